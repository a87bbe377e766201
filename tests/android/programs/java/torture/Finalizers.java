package torture;

/** Finalizers by the thousand, while others are made. How many ran by when differs from run to run. */
public class Finalizers {
    private static volatile int finalized;
    private final long[] ballast = new long[64];

    @Override
    @SuppressWarnings("deprecation")
    protected void finalize() throws Throwable {
        finalized += count(3);
        if (finalized % 1000 == 999)
            throw new IllegalStateException("ignored");
    }

    private static int count(int n) {
        return n == 0 ? 1 : count(n - 1);
    }

    private static long make(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++)
            sum += new Finalizers().ballast.length;
        return sum;
    }

    public static void main(String[] args) throws Exception {
        for (int round = 0; round < 5; round++) {
            System.out.println(make(1000));
            Runtime.getRuntime().gc();
            System.runFinalization();
        }
        for (int i = 0; i < 100 && finalized < 4000; i++) {
            Runtime.getRuntime().gc();
            System.runFinalization();
            Thread.sleep(20);
        }
        System.out.println(finalized >= 4000);
    }
}
