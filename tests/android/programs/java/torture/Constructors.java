package torture;

/** Constructors: calls before super(), supers that throw, chains of this(), inner classes, initialisers. */
public class Constructors {
    static int made;

    static int next(String why) {
        System.out.println("before " + why + " " + made);
        return ++made;
    }

    static class Base {
        final int value;

        Base(int value) {
            this.value = value;
            if (value % 5 == 0)
                throw new IllegalArgumentException("five " + value);
            hook();
        }

        void hook() {
            System.out.println("base hook");
        }
    }

    static class Child extends Base {
        private final long wide = 1L << 40;
        private final String name;

        Child(String name) {
            super(next(name));
            this.name = name;
        }

        Child(int a, long b, double c, Object d) {
            this(a + ":" + b + ":" + c + ":" + d);
            System.out.println("after this()");
        }

        Child(boolean fails) {
            super(fails ? fail() : next("no"));
            this.name = "flag";
        }

        static int fail() {
            throw new IllegalStateException("while computing super's argument");
        }

        @Override
        void hook() {
            System.out.println("child hook " + name + " " + wide);
        }
    }

    class Inner {
        final int[] cells = {1, 2, 3};
        int sum;

        {
            for (int c : cells)
                sum += c + own();
        }

        int own() {
            return made;
        }
    }

    enum Kind {
        ONE(1),
        TWO(2) {
            @Override
            int twice() {
                return 5;
            }
        };

        final int n;

        Kind(int n) {
            this.n = n;
        }

        int twice() {
            return 2 * n;
        }
    }

    static class Recursive {
        final Recursive next;

        Recursive(int depth) {
            next = depth == 0 ? null : new Recursive(depth - 1);
        }

        int length() {
            return next == null ? 1 : 1 + next.length();
        }
    }

    static class Error1 extends RuntimeException {
        Error1(String message, Throwable cause) {
            super(message + "+", cause);
        }
    }

    static class Caught extends Base {
        Caught(int n) {
            super(n);
            try {
                if (n > 0)
                    throw new Error1("inside", null);
            } catch (Error1 e) {
                System.out.println("constructor caught " + e.getMessage());
            }
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 7; i++) {
            try {
                Base b = i % 2 == 0 ? new Child("n" + i) : new Child(i, 1L << i, i / 4.0, "x");
                System.out.println(b.value);
            } catch (IllegalArgumentException e) {
                System.out.println(e.getMessage());
            }
        }
        try {
            new Child(true);
        } catch (IllegalStateException e) {
            System.out.println(e.getMessage());
        }
        System.out.println(new Constructors().new Inner().sum);
        for (Kind k : Kind.values())
            System.out.println(k + " " + k.twice());
        System.out.println(new Recursive(300).length());
        new Caught(3);
        int base = 9;
        Base anonymous = new Base(base + 2) {
            @Override
            void hook() {
                System.out.println("anonymous " + value);
            }
        };
        System.out.println(anonymous.value);
    }
}
