package dalvik.system;

/** What the helpers use of ART's own class, to compile against. */
public class VMDebug {
    public static native void startMethodTracing(String file, int bytes, int flags, boolean sampling, int interval);

    public static native void stopMethodTracing();
}
