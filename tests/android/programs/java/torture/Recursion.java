package torture;

/** Deep, mutual, and much recursion. */
public class Recursion {
    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static int ackermann(int m, int n) {
        if (m == 0)
            return n + 1;
        return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
    }

    static boolean even(int n) {
        return n == 0 || odd(n - 1);
    }

    static boolean odd(int n) {
        return n != 0 && even(n - 1);
    }

    static long sum(int n, long so, double half) {
        return n == 0 ? so + (long) half : sum(n - 1, so + n, half + 0.5);
    }

    public static void main(String[] args) {
        System.out.println(fib(17));
        System.out.println(ackermann(2, 20));
        System.out.println(even(1501) + " " + odd(1501));
        System.out.println(sum(1500, 1L << 33, 0));
    }
}
