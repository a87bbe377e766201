import dalvik.system.VMDebug;
import java.lang.reflect.InvocationTargetException;

/** Traced FILE CLASS: runs a program while ART records every method that is entered and left, into FILE. */
public class Traced {
    private static final int BYTES = 96 << 20;

    public static void main(String[] args) throws Throwable {
        // Loaded, but not initialised: that is a part of the program.
        Class<?> program = Class.forName(args[1], false, Traced.class.getClassLoader());
        VMDebug.startMethodTracing(args[0], BYTES, 0, false, 0);
        try {
            program.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        } catch (InvocationTargetException e) {
            System.out.println("main: " + e.getCause());
        } finally {
            VMDebug.stopMethodTracing();
        }
    }
}
