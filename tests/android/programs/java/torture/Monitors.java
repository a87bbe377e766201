package torture;

/** Monitors left by every way there is. */
public class Monitors {
    private final Object first = new Object();
    private final Object second = new Object();
    private int count;

    synchronized int whole(int n) {
        if (n < 0)
            throw new IllegalArgumentException("negative");
        if (n == 0)
            return 7;
        count += n;
        return count;
    }

    static synchronized String ofClass(String s) {
        return s == null ? "none" : s + "!";
    }

    int early(int n) {
        synchronized (first) {
            if (n == 1)
                return 1;
            if (n == 2)
                throw new IllegalStateException("two");
            count++;
        }
        return n;
    }

    int nested(int n) {
        synchronized (first) {
            synchronized (second) {
                if (n == 0)
                    return inner(3);
                synchronized (first) {
                    if (n == 1)
                        throw new RuntimeException("three deep");
                }
            }
            if (n == 2)
                return inner(5);
        }
        return inner(n);
    }

    private int inner(int n) {
        return n * 2;
    }

    int loop() {
        int sum = 0;
        outer:
        for (int i = 0; i < 10; i++) {
            synchronized (first) {
                if (i == 3)
                    continue;
                for (int j = 0; j < 4; j++) {
                    synchronized (second) {
                        if (j == 2)
                            continue outer;
                        if (i == 8)
                            break outer;
                        sum += whole(1) % 2 + i;
                    }
                }
            }
        }
        return sum;
    }

    int caught(Object lock) {
        try {
            synchronized (lock) {
                return early(2);
            }
        } catch (IllegalStateException e) {
            synchronized (first) {
                return -1;
            }
        } finally {
            synchronized (second) {
                count++;
            }
        }
    }

    static void free(Object lock) throws Exception {
        final boolean[] held = {false};
        Thread t = new Thread("free") {
            @Override
            public void run() {
                synchronized (lock) {
                    held[0] = true;
                }
            }
        };
        t.start();
        t.join(5000);
        System.out.println("free " + held[0]);
    }

    public static void main(String[] args) throws Exception {
        Monitors m = new Monitors();
        for (int n = -1; n < 4; n++) {
            try {
                System.out.println(m.whole(n));
            } catch (RuntimeException e) {
                System.out.println(e.getMessage());
            }
            try {
                System.out.println(m.early(n));
            } catch (RuntimeException e) {
                System.out.println(e.getMessage());
            }
            try {
                System.out.println(m.nested(n));
            } catch (RuntimeException e) {
                System.out.println(e.getMessage());
            }
        }
        System.out.println(ofClass(null) + ofClass("yes"));
        System.out.println(m.loop());
        System.out.println(m.caught(m) + " " + m.count);
        try {
            m.caught(null);
        } catch (NullPointerException e) {
            System.out.println("no lock");
        }
        try {
            m.notify();
        } catch (IllegalMonitorStateException e) {
            System.out.println("not held");
        }
        free(m);
        free(m.first);
        free(m.second);
        free(Monitors.class);
    }
}
