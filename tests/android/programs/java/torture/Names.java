package torture;

/** Every way to Thread.setName. */
public class Names {
    static class Own extends Thread {
        Own() {
            super("born");
        }

        @Override
        public void run() {
            setName("by itself");
            System.out.println(getName());
            this.setName("by this");
            System.out.println(getName());
            super.setName("by super");
            System.out.println(getName());
        }

        void named(String s) {
            super.setName(s + "!");
        }
    }

    static void named(Thread t, String name) {
        t.setName(name);
        System.out.println(t.getName());
    }

    public static void main(String[] args) throws Exception {
        Thread me = Thread.currentThread();
        String before = me.getName();
        named(me, "renamed");
        named(me, "");
        named(me, "a name that is much longer than the fifteen characters which a kernel keeps");
        named(me, "\u00e9\u4e2d\ud83d\ude00");
        try {
            named(me, null);
        } catch (NullPointerException e) {
            System.out.println("no name");
        }
        try {
            named(null, "nobody");
        } catch (NullPointerException e) {
            System.out.println("no thread");
        }
        Thread.class.getMethod("setName", String.class).invoke(me, "by reflection");
        System.out.println(me.getName());
        named(me, before);
        Own own = new Own();
        own.named("early");
        System.out.println(own.getName());
        own.start();
        own.join();
        java.util.function.BiConsumer<Thread, String> by = Thread::setName;
        by.accept(me, "by a reference");
        System.out.println(me.getName());
        by.accept(me, before);
    }
}
