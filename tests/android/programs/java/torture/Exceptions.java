package torture;

import java.io.Closeable;
import java.io.IOException;

/** Exceptions by every way out of a method, and back into it. */
public class Exceptions {
    static class Own extends Exception {
        final int depth;

        Own(int depth) {
            super("own " + depth);
            this.depth = depth;
        }
    }

    static int rethrow(int n) throws Own {
        try {
            try {
                return deep(n);
            } catch (Own e) {
                if (e.depth == 1)
                    throw e;
                return -1;
            } finally {
                note("inner finally " + n);
            }
        } catch (Own e) {
            note("outer " + e.getMessage());
            throw new Own(e.depth + 10);
        } finally {
            note("outer finally");
        }
    }

    static int deep(int n) throws Own {
        if (n == 0)
            return 0;
        if (n < 3)
            throw new Own(n);
        return deep(n - 3) + 1;
    }

    static void note(String s) {
        System.out.println(s);
    }

    @SuppressWarnings("finally")
    static int finallyWins(int n) {
        for (;;) {
            try {
                if (n == 0)
                    throw new RuntimeException("lost");
                return n;
            } finally {
                if (n == 1)
                    break;
                if (n == 0)
                    return 42;
            }
        }
        return 99;
    }

    static int inside(int n) {
        int caught = 0;
        for (int i = 0; i < n; i++) {
            try {
                if (i % 3 == 0)
                    throw new IllegalStateException();
                if (i % 3 == 1)
                    caught += "abc".charAt(i);
                else
                    caught += 100 / (i - 5);
            } catch (IllegalStateException e) {
                caught += 1;
            } catch (IndexOutOfBoundsException | ArithmeticException e) {
                caught += 1000;
            }
        }
        return caught;
    }

    static class Resource implements Closeable {
        final String name;
        final boolean fails;

        Resource(String name, boolean fails) {
            this.name = name;
            this.fails = fails;
            note("open " + name);
        }

        @Override
        public void close() throws IOException {
            note("close " + name);
            if (fails)
                throw new IOException("closing " + name);
        }
    }

    static void resources(boolean fails) {
        try (Resource a = new Resource("a", fails); Resource b = new Resource("b", true)) {
            note(a.name + b.name);
            if (fails)
                throw new IllegalStateException("body");
        } catch (IOException | IllegalStateException e) {
            note(e + " suppressed " + e.getSuppressed().length);
        }
    }

    static void frames(int n) {
        if (n == 0)
            throw new UnsupportedOperationException("bottom");
        frames(n - 1);
        note("never");
    }

    static Object implicit(int n) {
        Object o = n == 0 ? null : "text";
        int[] few = new int[2];
        switch (n) {
        case 0:
            return o.hashCode();
        case 1:
            return (Integer) o;
        case 2:
            return few[n];
        case 3:
            return new int[-n];
        case 4:
            return n / (n - 4);
        case 5:
            return n % (long) (n - 5);
        case 6: {
            Object[] strings = new String[1];
            strings[0] = n;
            return strings;
        }
        default:
            throw null;
        }
    }

    static class Broken {
        static int value = trouble();

        static int trouble() {
            throw new RuntimeException("in <clinit>");
        }
    }

    static void stack() {
        try {
            frames(3);
        } catch (UnsupportedOperationException e) {
            for (StackTraceElement s : e.getStackTrace())
                if (s.getClassName().startsWith("torture."))
                    note(s.getMethodName() + " " + s.getFileName() + ":" + s.getLineNumber());
        }
    }

    static int many(int n) {
        try {
            try {
                try {
                    implicit(n);
                } catch (NullPointerException e) {
                    throw new IllegalStateException(e);
                } finally {
                    note("first");
                }
            } catch (ArithmeticException e) {
                throw new IllegalArgumentException(e);
            } finally {
                note("second");
            }
        } catch (IllegalStateException e) {
            return 1;
        } catch (IllegalArgumentException e) {
            return 2;
        } catch (RuntimeException e) {
            return 3;
        }
        return 4;
    }

    public static void main(String[] args) throws Exception {
        for (int n = 0; n < 7; n++) {
            try {
                note("rethrow " + rethrow(n));
            } catch (Own e) {
                note("main " + e.getMessage());
            }
        }
        note(finallyWins(0) + " " + finallyWins(1) + " " + finallyWins(2));
        note("" + inside(9));
        resources(false);
        resources(true);
        for (int n = 0; n < 8; n++) {
            try {
                implicit(n);
            } catch (RuntimeException e) {
                note(e.getClass().getName());
            }
            note("many " + many(n));
        }
        for (int n = 0; n < 2; n++) {
            try {
                note("" + Broken.value);
            } catch (Throwable t) {
                note(t.getClass().getName());
            }
        }
        stack();
        Thread t = new Thread("uncaught") {
            @Override
            public void run() {
                frames(5);
            }
        };
        t.setUncaughtExceptionHandler((thread, e) -> note(thread.getName() + " died of " + e.getMessage()));
        t.start();
        t.join();
    }
}
