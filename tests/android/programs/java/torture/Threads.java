package torture;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/** 210 threads of their own names, each with its own calls; some end by an exception. */
public class Threads {
    static final AtomicLong total = new AtomicLong();

    static class Worker extends Thread {
        private final int seed;

        Worker(int seed) {
            super("worker " + seed);
            this.seed = seed;
        }

        @Override
        public void run() {
            total.addAndGet(work(seed % 11 + 3));
            if (seed % 10 == 0)
                fail();
        }

        private long work(int depth) {
            return depth == 0 ? seed : work(depth - 1) + leaf(depth);
        }

        private int leaf(int n) {
            return n * seed % 7;
        }

        private void fail() {
            throw new IllegalStateException("as asked");
        }
    }

    static int task(int n) throws Exception {
        if (n % 4 == 0)
            throw new Exception("task");
        return n * n;
    }

    public static void main(String[] args) throws Exception {
        AtomicLong deaths = new AtomicLong();
        Thread.setDefaultUncaughtExceptionHandler((t, e) -> deaths.incrementAndGet());
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < 210; i++)
            all.add(new Worker(i));
        for (Thread t : all)
            t.start();
        for (Thread t : all)
            t.join();
        System.out.println(total.get() + " " + deaths.get());

        ExecutorService pool = Executors.newFixedThreadPool(1, r -> new Thread(r, "pool"));
        int sum = 0;
        List<Future<Integer>> results = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            int n = i;
            results.add(pool.submit(() -> task(n)));
        }
        for (Future<Integer> f : results) {
            try {
                sum += f.get();
            } catch (java.util.concurrent.ExecutionException e) {
                sum += 1000000;
            }
        }
        pool.shutdown();
        System.out.println(sum);

        CountDownLatch gate = new CountDownLatch(1);
        Thread waits = new Thread(() -> {
            try {
                gate.await();
                Thread.sleep(1);
                System.out.println("through");
            } catch (InterruptedException e) {
                System.out.println("interrupted");
            }
        }, "gate");
        waits.start();
        gate.countDown();
        waits.join();
    }
}
