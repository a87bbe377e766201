import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Desugar IN OUT: a folder of class files with every lambda and method reference turned into a class, as there is no
 * LambdaMetafactory on ART.
 *
 * The body of a lambda becomes static, with its object as the first parameter: another virtual method would change the
 * layout of classes that ART knows (String).
 */
public class Desugar implements Opcodes {
    private static final String BODY = "lambda$";

    private final ClassNode host;
    private final Path out;
    private final boolean isInterface;
    /** Methods of the host that its lambdas call: name and descriptor as they were. */
    private final Set<String> called = new HashSet<>();
    private int count;

    private Desugar(ClassNode host, Path out) {
        this.host = host;
        this.out = out;
        this.isInterface = (host.access & ACC_INTERFACE) != 0;
    }

    public static void main(String[] args) throws IOException {
        Path in = Paths.get(args[0]);
        Path out = Paths.get(args[1]);
        List<Path> classes;
        try (Stream<Path> files = Files.walk(in)) {
            classes = files.filter(f -> f.toString().endsWith(".class")).collect(Collectors.toList());
        }
        classes.parallelStream().forEach(f -> {
            try {
                ClassNode host = new ClassNode();
                new ClassReader(Files.readAllBytes(f)).accept(host, 0);
                new Desugar(host, out).run();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private void run() throws IOException {
        for (MethodNode method : host.methods)
            for (AbstractInsnNode at = method.instructions.getFirst(), next; at != null; at = next) {
                next = at.getNext();
                if (at instanceof InvokeDynamicInsnNode)
                    method.instructions.set(at, make((InvokeDynamicInsnNode) at));
            }
        for (MethodNode method : host.methods)
            expose(method);
        for (MethodNode method : host.methods)
            for (AbstractInsnNode at : method.instructions)
                recall(at);
        ClassWriter writer = new ClassWriter(0);
        host.accept(writer);
        write(host.name, writer.toByteArray());
    }

    private void write(String name, byte[] bytes) throws IOException {
        Path file = out.resolve(name + ".class");
        Files.createDirectories(file.getParent());
        Files.write(file, bytes);
    }

    /** A private method that a lambda's class calls is so no more. */
    private void expose(MethodNode method) {
        if (!called.contains(method.name + method.desc) || (method.access & ACC_PRIVATE) == 0)
            return;
        method.access &= ~ACC_PRIVATE;
        if (isInterface)
            method.access |= ACC_PUBLIC;
        if (method.name.startsWith(BODY) && (method.access & ACC_STATIC) == 0) {
            method.access |= ACC_STATIC;
            method.desc = withObject(method.desc);
            method.localVariables = null;
            method.signature = null;
        }
    }

    /** What was private was called by invokespecial. */
    private void recall(AbstractInsnNode at) {
        if (!(at instanceof MethodInsnNode))
            return;
        MethodInsnNode call = (MethodInsnNode) at;
        if (call.getOpcode() == INVOKESPECIAL && !call.name.equals("<init>") && call.owner.equals(host.name) &&
            called.contains(call.name + call.desc))
            call.setOpcode(isInterface ? INVOKEINTERFACE : INVOKEVIRTUAL);
    }

    private String withObject(String desc) {
        return "(L" + host.name + ";" + desc.substring(1);
    }

    /** A call that makes the object, in place of the invokedynamic. */
    private MethodInsnNode make(InvokeDynamicInsnNode site) throws IOException {
        if (!site.bsm.getOwner().equals("java/lang/invoke/LambdaMetafactory"))
            throw new IllegalArgumentException(host.name + ": invokedynamic by " + site.bsm);
        String name = host.name + "$$Lambda$" + count++;
        List<String> interfaces = new ArrayList<>();
        List<Type> shapes = new ArrayList<>();
        interfaces.add(Type.getReturnType(site.desc).getInternalName());
        shapes.add((Type) site.bsmArgs[0]);
        if (site.bsm.getName().equals("altMetafactory"))
            more(site.bsmArgs, interfaces, shapes);
        Handle body = (Handle) site.bsmArgs[1];
        if (body.getOwner().equals(host.name))
            called.add(body.getName() + body.getDesc());
        Type[] captured = Type.getArgumentTypes(site.desc);
        ClassWriter writer = frame(name, interfaces, captured);
        for (Type shape : shapes)
            method(writer, name, site.name, shape, (Type) site.bsmArgs[2], body, captured);
        writer.visitEnd();
        write(name, writer.toByteArray());
        return new MethodInsnNode(INVOKESTATIC, name, "make", Type.getMethodDescriptor(Type.getObjectType(name), captured), false);
    }

    /** The arguments of altMetafactory: flags (1 serializable, 2 marker interfaces, 4 bridges) and what they announce. */
    private static void more(Object[] args, List<String> interfaces, List<Type> shapes) {
        int flags = (Integer) args[3];
        int at = 4;
        if ((flags & 2) != 0)
            for (int n = (Integer) args[at++]; n > 0; n--)
                interfaces.add(((Type) args[at++]).getInternalName());
        if ((flags & 4) != 0)
            for (int n = (Integer) args[at++]; n > 0; n--)
                if (!shapes.contains(args[at++]))
                    shapes.add((Type) args[at - 1]);
        if ((flags & 1) != 0)
            interfaces.add("java/io/Serializable");
    }

    /** Fields, constructor and factory. */
    private ClassWriter frame(String name, List<String> interfaces, Type[] captured) {
        int open = isInterface ? ACC_PUBLIC : 0;
        ClassWriter w = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        w.visit(V1_6, ACC_FINAL | ACC_SYNTHETIC | ACC_SUPER | open, name, null, "java/lang/Object", interfaces.toArray(new String[0]));
        for (int i = 0; i < captured.length; i++)
            w.visitField(ACC_FINAL, "f" + i, captured[i].getDescriptor(), null, null);
        String desc = Type.getMethodDescriptor(Type.VOID_TYPE, captured);
        MethodNode init = new MethodNode(0, "<init>", desc, null, null);
        init.visitVarInsn(ALOAD, 0);
        init.visitMethodInsn(INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
        MethodNode make = new MethodNode(ACC_STATIC | open, "make", Type.getMethodDescriptor(Type.getObjectType(name), captured), null, null);
        make.visitTypeInsn(NEW, name);
        make.visitInsn(DUP);
        int local = 0;
        for (int i = 0; i < captured.length; i++) {
            init.visitVarInsn(ALOAD, 0);
            init.visitVarInsn(captured[i].getOpcode(ILOAD), local + 1);
            init.visitFieldInsn(PUTFIELD, name, "f" + i, captured[i].getDescriptor());
            make.visitVarInsn(captured[i].getOpcode(ILOAD), local);
            local += captured[i].getSize();
        }
        init.visitInsn(RETURN);
        init.visitMaxs(0, 0);
        make.visitMethodInsn(INVOKESPECIAL, name, "<init>", desc, false);
        make.visitInsn(ARETURN);
        make.visitMaxs(0, 0);
        init.accept(w);
        make.accept(w);
        return w;
    }

    /** The interface's method: captured values and arguments, converted, to the body; its result, converted, back. */
    private void method(ClassWriter w, String name, String called, Type shape, Type instantiated, Handle body, Type[] captured) {
        MethodNode m = new MethodNode(ACC_PUBLIC, called, shape.getDescriptor(), null, null);
        boolean creates = body.getTag() == H_NEWINVOKESPECIAL;
        boolean moved = body.getOwner().equals(host.name) && body.getName().startsWith(BODY) && body.getTag() != H_INVOKESTATIC;
        List<Type> wanted = new ArrayList<>();
        if (body.getTag() != H_INVOKESTATIC && !creates)
            wanted.add(Type.getObjectType(body.getOwner()));
        wanted.addAll(List.of(Type.getArgumentTypes(body.getDesc())));
        if (creates) {
            m.visitTypeInsn(NEW, body.getOwner());
            m.visitInsn(DUP);
        }
        int at = 0;
        for (int i = 0; i < captured.length; i++) {
            m.visitVarInsn(ALOAD, 0);
            m.visitFieldInsn(GETFIELD, name, "f" + i, captured[i].getDescriptor());
            convert(m, captured[i], null, wanted.get(at++));
        }
        Type[] given = shape.getArgumentTypes();
        for (int i = 0, local = 1; i < given.length; i++) {
            m.visitVarInsn(given[i].getOpcode(ILOAD), local);
            local += given[i].getSize();
            convert(m, given[i], instantiated.getArgumentTypes()[i], wanted.get(at++));
        }
        m.visitMethodInsn(opcode(body, moved), body.getOwner(), body.getName(), moved ? withObject(body.getDesc()) : body.getDesc(),
                          body.isInterface());
        Type result = creates ? Type.getObjectType(body.getOwner()) : Type.getReturnType(body.getDesc());
        convert(m, result, instantiated.getReturnType(), shape.getReturnType());
        m.visitInsn(shape.getReturnType().getOpcode(IRETURN));
        m.visitMaxs(0, 0);
        m.accept(w);
    }

    private static int opcode(Handle body, boolean moved) {
        if (moved || body.getTag() == H_INVOKESTATIC)
            return INVOKESTATIC;
        if (body.getTag() == H_NEWINVOKESPECIAL)
            return INVOKESPECIAL;
        return body.isInterface() ? INVOKEINTERFACE : INVOKEVIRTUAL;
    }

    private static final String[] BOXES = {null,  "Boolean", "Character", "Byte", "Short", "Integer", "Float", "Long", "Double"};
    private static final String[] VALUES = {null, "boolean", "char",      "byte", "short", "int",     "float", "long", "double"};

    private static boolean isPrimitive(Type type) {
        return type.getSort() < Type.ARRAY;
    }

    private static String box(int sort) {
        return "java/lang/" + BOXES[sort];
    }

    /** From a type on the stack (of which the lambda knows that it is really INSTANTIATED) to another. */
    private static void convert(MethodNode m, Type from, Type instantiated, Type to) {
        if (to.getSort() == Type.VOID) {
            if (from.getSort() != Type.VOID)
                m.visitInsn(from.getSize() == 2 ? POP2 : POP);
        } else if (from.getSort() == Type.VOID) {
            return;
        } else if (isPrimitive(from) && isPrimitive(to)) {
            widen(m, from, to);
        } else if (isPrimitive(from)) {
            String box = box(from.getSort());
            m.visitMethodInsn(INVOKESTATIC, box, "valueOf", "(" + from.getDescriptor() + ")L" + box + ";", false);
        } else if (isPrimitive(to)) {
            unbox(m, instantiated != null && !isPrimitive(instantiated) ? instantiated : from, to);
        } else if (!from.equals(to) && !to.getInternalName().equals("java/lang/Object")) {
            m.visitTypeInsn(CHECKCAST, to.getInternalName());
        }
    }

    private static void unbox(MethodNode m, Type known, Type to) {
        int sort = to.getSort();
        for (int s = 1; s < BOXES.length; s++)
            if (known.getSort() == Type.OBJECT && box(s).equals(known.getInternalName()))
                sort = s;
        Type value = Type.getType("ZCBSIFJD".substring(sort - 1, sort));
        m.visitTypeInsn(CHECKCAST, box(sort));
        m.visitMethodInsn(INVOKEVIRTUAL, box(sort), VALUES[sort] + "Value", "()" + value.getDescriptor(), false);
        widen(m, value, to);
    }

    private static void widen(MethodNode m, Type from, Type to) {
        int f = from.getSort();
        int t = to.getSort();
        if (f == t || t <= Type.INT)
            return;
        if (f <= Type.INT)
            m.visitInsn(t == Type.LONG ? I2L : t == Type.FLOAT ? I2F : I2D);
        else if (f == Type.LONG)
            m.visitInsn(t == Type.FLOAT ? L2F : L2D);
        else if (f == Type.FLOAT && t == Type.DOUBLE)
            m.visitInsn(F2D);
    }
}
