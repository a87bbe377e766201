package torture;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Method handles: invoke-polymorphic. */
public class Handles {
    static long add(int a, long b) {
        return a + b;
    }

    String of(double d, Object o) {
        if (o == null)
            throw new IllegalStateException("null");
        return d + ":" + o;
    }

    public static void main(String[] args) throws Throwable {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        MethodHandle add = lookup.findStatic(Handles.class, "add", MethodType.methodType(long.class, int.class, long.class));
        System.out.println((long) add.invokeExact(3, 1L << 40));
        System.out.println((long) add.invoke((short) 3, 4));
        MethodHandle of = lookup.findVirtual(Handles.class, "of", MethodType.methodType(String.class, double.class, Object.class));
        System.out.println((String) of.invokeExact(new Handles(), 0.5, (Object) "x"));
        try {
            Object ignored = of.invoke(new Handles(), 1.0, null);
        } catch (IllegalStateException e) {
            System.out.println(e.getMessage());
        }
    }
}
