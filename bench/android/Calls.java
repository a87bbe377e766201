package bench;

/** What a call takes: the loop with it less the loop without, least of several rounds. Prints ns a call. */
public class Calls {
    static int sum;

    static int one(int x) {
        return x + 1;
    }

    static long without(int count) {
        long begin = System.nanoTime();
        int x = 0;
        for (int i = 0; i < count; i++)
            x = x + 1;
        sum += x;
        return System.nanoTime() - begin;
    }

    static long with(int count) {
        long begin = System.nanoTime();
        int x = 0;
        for (int i = 0; i < count; i++)
            x = one(x);
        sum += x;
        return System.nanoTime() - begin;
    }

    public static void main(String[] args) {
        int count = 200000;
        long loop = Long.MAX_VALUE, calls = Long.MAX_VALUE;
        for (int round = 0; round < 10; round++) {
            loop = Math.min(loop, without(count));
            calls = Math.min(calls, with(count));
        }
        System.out.println((calls - loop) / (double) count);
    }
}
