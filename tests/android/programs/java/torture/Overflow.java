package torture;

/** The stack overflows, and is unwound. How deep it was differs from run to run. */
public class Overflow {
    private static int depth;

    static int down(int n) {
        depth = n;
        return down(n + 1) + 1;
    }

    static boolean caught() {
        try {
            down(0);
            return false;
        } catch (StackOverflowError e) {
            return depth > 100;
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 3; i++)
            System.out.println(caught());
        Thread t = new Thread("small") {
            @Override
            public void run() {
                System.out.println(caught());
            }
        };
        t.start();
        t.join();
    }
}
