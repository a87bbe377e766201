package torture;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntBinaryOperator;
import java.util.function.Supplier;

/** Kinds of methods: abstract, native, default, static of interfaces, bridges, lambdas, varargs, proxies, static initialisers. */
public class Kinds {
    interface Shape {
        String TABLE = table("shape");

        static String table(String of) {
            System.out.println("interface initialised: " + of);
            return of;
        }

        int sides();

        default String describe() {
            return TABLE + " with " + sides() + tail();
        }

        static String unit() {
            return " sides";
        }

        default String tail() {
            return unit();
        }
    }

    interface Named extends Shape {
        @Override
        default String tail() {
            return Shape.super.tail() + " and a name";
        }
    }

    abstract static class Polygon implements Shape, Comparable<Polygon> {
        abstract int corners();

        @Override
        public int sides() {
            return corners();
        }

        @Override
        public int compareTo(Polygon other) {
            return Integer.compare(sides(), other.sides());
        }
    }

    static class Triangle extends Polygon {
        @Override
        int corners() {
            return 3;
        }
    }

    static class Square extends Polygon implements Named {
        static {
            System.out.println("Square initialised");
            Triangle.class.getName();
            new Triangle().describe();
        }

        @Override
        int corners() {
            return 4;
        }
    }

    static class Lazy {
        static final List<String> LOG = new ArrayList<>();
        static int a = step("a"), b = step("b");

        static {
            try {
                step(null);
            } catch (NullPointerException e) {
                step("caught");
            }
        }

        static int step(String s) {
            LOG.add(s.trim());
            return LOG.size();
        }
    }

    native int missing(long a, double b);

    static native void alsoMissing();

    static String join(String by, Object... parts) {
        StringBuilder s = new StringBuilder();
        for (Object p : parts)
            s.append(s.length() == 0 ? "" : by).append(p);
        return s.toString();
    }

    static int twice(IntBinaryOperator op, int a, int b) {
        return op.applyAsInt(op.applyAsInt(a, b), b);
    }

    static <T, R> List<R> map(List<T> in, Function<? super T, ? extends R> f) {
        List<R> out = new ArrayList<>();
        for (T t : in)
            out.add(f.apply(t));
        return out;
    }

    final int base = 100;

    Supplier<Supplier<Integer>> layered(int n) {
        return () -> () -> n + base;
    }

    public static void main(String[] args) throws Exception {
        Polygon[] all = {new Square(), new Triangle()};
        Arrays.sort(all);
        for (Polygon p : all)
            System.out.println(p.describe());
        System.out.println(Lazy.a + Lazy.b + " " + Lazy.LOG);
        try {
            new Kinds().missing(1, 2);
        } catch (UnsatisfiedLinkError e) {
            System.out.println("missing");
        }
        try {
            alsoMissing();
        } catch (UnsatisfiedLinkError e) {
            System.out.println("also");
        }
        System.out.println(join("-") + join("-", 1) + join("-", 1, 2L, 'c', 4.0, null, "six", 7, 8));
        System.out.println(twice((a, b) -> a * b, 3, 4) + " " + twice(Math::max, 3, 4) + " " + twice(Kinds::minus, 3, 4));
        System.out.println(map(Arrays.asList("a", "bb"), String::length) + "" + map(Arrays.asList(1, 2), x -> x + 0.5));
        System.out.println(map(Arrays.asList("x"), StringBuilder::new));
        System.out.println(new Kinds().layered(5).get().get());
        Comparable<?> proxy = (Comparable<?>) java.lang.reflect.Proxy.newProxyInstance(
            Kinds.class.getClassLoader(), new Class<?>[] {Comparable.class}, (p, m, a) -> m.getName().length());
        System.out.println(((Comparable<Object>) proxy).compareTo(null));
        java.lang.reflect.Method m = Kinds.class.getDeclaredMethod("join", String.class, Object[].class);
        System.out.println(m.invoke(null, "+", new Object[] {1, 2}));
        try {
            Kinds.class.getDeclaredMethod("boom").invoke(null);
        } catch (java.lang.reflect.InvocationTargetException e) {
            System.out.println(e.getCause().getMessage());
        }
        System.out.println(Kinds.class.getDeclaredMethods().length + " " + Kinds.class.getDeclaredFields().length);
    }

    static int minus(int a, int b) {
        return a - b;
    }

    static void boom() {
        throw new IllegalStateException("boom");
    }
}
