# invoke-custom with a bootstrap method of its own, and constants of kinds that only it has.
.class public Lsmali/Custom;
.super Ljava/lang/Object;

.method public static linker(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;I)Ljava/lang/invoke/CallSite;
    .registers 8
    invoke-static {p3}, Lsmali/Flow;->log(I)V
    const-class v0, Lsmali/Custom;
    invoke-virtual {p0, v0, p1, p2}, Ljava/lang/invoke/MethodHandles$Lookup;->findStatic(Ljava/lang/Class;Ljava/lang/String;Ljava/lang/invoke/MethodType;)Ljava/lang/invoke/MethodHandle;
    move-result-object v0
    new-instance v1, Ljava/lang/invoke/ConstantCallSite;
    invoke-direct {v1, v0}, Ljava/lang/invoke/ConstantCallSite;-><init>(Ljava/lang/invoke/MethodHandle;)V
    return-object v1
.end method

.method public static add(II)I
    .registers 2
    add-int/2addr p0, p1
    return p0
.end method

.method public static fails(I)I
    .registers 1
    const/4 p0, 0
    invoke-static {p0}, Lsmali/Flow;->fail(I)I
    move-result p0
    return p0
.end method

.method static call(I)V
    .registers 3
    # smali does not count the arguments of invoke-custom.
    invoke-static {p0, p0}, Lsmali/Custom;->add(II)I
    invoke-custom {p0, p0}, first("add", (II)I, 1)@Lsmali/Custom;->linker(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;I)Ljava/lang/invoke/CallSite;
    move-result v0
    invoke-static {v0}, Lsmali/Flow;->log(I)V
    :try
    invoke-custom/range {p0 .. p0}, second("fails", (I)I, 2)@Lsmali/Custom;->linker(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;I)Ljava/lang/invoke/CallSite;
    :end
    .catch Ljava/lang/IllegalStateException; {:try .. :end} :caught
    :caught
    return-void
.end method

.method public static main([Ljava/lang/String;)V
    .registers 2
    const/4 v0, 3
    :again
    invoke-static {v0}, Lsmali/Custom;->call(I)V
    add-int/lit8 v0, v0, -1
    if-gez v0, :again
    return-void
.end method
