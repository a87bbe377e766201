# Flow of control that compilers for Java do not write, but others might.
.class public Lsmali/Flow;
.super Ljava/lang/Object;

.method static log(I)V
    .registers 2
    sget-object v0, Ljava/lang/System;->out:Ljava/io/PrintStream;
    invoke-virtual {v0, p0}, Ljava/io/PrintStream;->println(I)V
    return-void
.end method

.method static fail(I)I
    .registers 3
    if-nez p0, :no
    new-instance v0, Ljava/lang/IllegalStateException;
    const-string v1, "asked to"
    invoke-direct {v0, v1}, Ljava/lang/IllegalStateException;-><init>(Ljava/lang/String;)V
    throw v0
    :no
    add-int/lit8 p0, p0, 1
    return p0
.end method

# The very first instruction is the head of a loop: what is done at entry is done once.
.method static firstIsLoop(I)I
    .registers 1
    :again
    add-int/lit8 p0, p0, 7
    const/16 p0, 0x64
    const/4 p0, 0
    if-nez p0, :again
    return p0
.end method

.method static countDown(II)I
    .registers 2
    :again
    if-lez p0, :done
    add-int/lit8 p0, p0, -1
    add-int/2addr p1, p0
    goto :again
    :done
    return p1
.end method

# Nothing but a jump, backwards and forwards.
.method static jumps(I)I
    .registers 2
    goto :c
    :a
    const/4 v0, 1
    goto :d
    :b
    const/4 v0, 2
    goto/16 :a
    :c
    if-eqz p0, :b
    goto/32 :a
    :d
    add-int/2addr v0, p0
    return v0
.end method

# The try begins with the first instruction and ends with the last.
.method static wholeTry(I)I
    .registers 3
    :try
    invoke-static {p0}, Lsmali/Flow;->fail(I)I
    move-result v0
    return v0
    :end
    .catch Ljava/lang/IllegalStateException; {:try .. :end} :caught
    .catchall {:try .. :end} :any
    :any
    move-exception v1
    const/4 v0, -2
    return v0
    :caught
    move-exception v1
    const/4 v0, -1
    return v0
.end method

# A handler inside its own range, and one that is also reached by a jump.
.method static handlers(I)I
    .registers 4
    const/4 v0, 0
    :try
    invoke-static {p0}, Lsmali/Flow;->fail(I)I
    move-result v1
    goto :after
    :caught
    move-exception v2
    add-int/lit8 v0, v0, 1
    add-int/lit8 p0, p0, 1
    const/4 v1, 3
    if-ge v0, v1, :after
    add-int/lit8 p0, p0, -1
    invoke-static {p0}, Lsmali/Flow;->fail(I)I
    :end
    .catch Ljava/lang/RuntimeException; {:try .. :end} :caught
    :after
    add-int/2addr v0, p0
    return v0
.end method

# A handler without move-exception, shared by two ranges, and nested ones that rethrow.
.method static shared(I)I
    .registers 4
    const/4 v0, 0
    :a
    invoke-static {p0}, Lsmali/Flow;->fail(I)I
    :a_end
    .catch Ljava/lang/Throwable; {:a .. :a_end} :plain
    :b
    new-array v1, p0, [I
    aget v2, v1, p0
    :b_end
    .catch Ljava/lang/ArrayIndexOutOfBoundsException; {:b .. :b_end} :plain
    .catch Ljava/lang/NegativeArraySizeException; {:b .. :b_end} :negative
    .catchall {:b .. :b_end} :rethrow
    :plain
    add-int/lit8 v0, v0, 5
    return v0
    :negative
    const/16 v0, 77
    return v0
    :rethrow
    move-exception v3
    throw v3
.end method

# Every instruction in a range of its own; one handler rethrows into another.
.method static chain(I)I
    .registers 4
    :a
    invoke-static {p0}, Lsmali/Flow;->fail(I)I
    :a_end
    .catchall {:a .. :a_end} :first
    const/16 v0, 9
    return v0
    :first
    move-exception v1
    :b
    throw v1
    :b_end
    .catch Ljava/lang/IllegalStateException; {:b .. :b_end} :second
    :second
    move-exception v2
    :c
    const/4 v0, 0
    div-int v0, v0, v0
    return v0
    :c_end
    .catch Ljava/lang/ArithmeticException; {:c .. :c_end} :third
    :third
    move-exception v1
    if-eq v1, v2, :same
    const/16 v0, 11
    return v0
    :same
    throw v2
.end method

# What is never reached: code behind the end, payloads between, a nop to align.
.method static unreached(I)I
    .registers 3
    packed-switch p0, :table
    const/4 v0, 1
    return v0
    :data
    .array-data 1
        1t 2t 3t
    .end array-data
    :five
    const/4 v1, 3
    new-array v0, v1, [B
    fill-array-data v0, :data
    const/4 v1, 2
    aget-byte v0, v0, v1
    return v0
    :six
    sparse-switch p0, :sparse
    const/4 v0, 6
    return v0
    :table
    .packed-switch 5
        :five
        :six
        :seven
    .end packed-switch
    :sparse
    .sparse-switch
        -1 -> :five
        6 -> :seven
    .end sparse-switch
    :seven
    const/4 v0, 7
    return v0
    :never
    const/4 v0, 0
    nop
    throw v0
.end method

# A switch that goes back to the first instruction, and one without cases.
.method static switchBack(I)I
    .registers 2
    :first
    add-int/lit8 p0, p0, -1
    packed-switch p0, :table
    packed-switch p0, :empty
    return p0
    :table
    .packed-switch 1
        :first
        :first
        :first
    .end packed-switch
    :empty
    .packed-switch 0
    .end packed-switch
.end method

# It only throws.
.method static onlyThrows(Ljava/lang/RuntimeException;)V
    .registers 1
    throw p0
.end method

.method static nothing()V
    .registers 0
    return-void
.end method

.method static same(Ljava/lang/Object;)Ljava/lang/Object;
    .registers 1
    return-object p0
.end method

.method static ever(I)I
    .registers 3
    :try
    add-int/lit8 p0, p0, -1
    invoke-static {p0}, Lsmali/Flow;->fail(I)I
    goto :try
    :end
    .catchall {:try .. :end} :out
    :out
    move-exception v0
    return p0
.end method

# Results between an invocation and its move-result; arrays from registers.
.method static results(I)J
    .registers 8
    filled-new-array {p0, p0, p0}, [I
    move-result-object v0
    array-length v1, v0
    const/4 v2, 4
    const/4 v3, 5
    const/4 v4, 6
    filled-new-array/range {v1 .. v4}, [I
    move-result-object v0
    const/4 v5, 3
    aget v1, v0, v5
    int-to-long v2, v1
    const-class v4, [I
    instance-of v4, v0, [I
    int-to-long v4, v4
    add-long/2addr v2, v4
    invoke-static {v2, v3}, Ljava/lang/Math;->abs(J)J
    move-result-wide v2
    return-wide v2
.end method

.method static call(I)V
    .registers 6
    invoke-static {p0}, Lsmali/Flow;->firstIsLoop(I)I
    move-result v0
    invoke-static {v0}, Lsmali/Flow;->log(I)V
    invoke-static {p0, v0}, Lsmali/Flow;->countDown(II)I
    move-result v0
    invoke-static {v0}, Lsmali/Flow;->log(I)V
    invoke-static {p0}, Lsmali/Flow;->jumps(I)I
    move-result v0
    invoke-static {v0}, Lsmali/Flow;->log(I)V
    invoke-static {p0}, Lsmali/Flow;->wholeTry(I)I
    move-result v0
    invoke-static {v0}, Lsmali/Flow;->log(I)V
    invoke-static {p0}, Lsmali/Flow;->handlers(I)I
    move-result v0
    invoke-static {v0}, Lsmali/Flow;->log(I)V
    invoke-static {p0}, Lsmali/Flow;->shared(I)I
    move-result v0
    invoke-static {v0}, Lsmali/Flow;->log(I)V
    invoke-static {p0}, Lsmali/Flow;->chain(I)I
    move-result v0
    invoke-static {v0}, Lsmali/Flow;->log(I)V
    invoke-static {p0}, Lsmali/Flow;->unreached(I)I
    move-result v0
    invoke-static {v0}, Lsmali/Flow;->log(I)V
    invoke-static {p0}, Lsmali/Flow;->switchBack(I)I
    move-result v0
    invoke-static {v0}, Lsmali/Flow;->log(I)V
    invoke-static {p0}, Lsmali/Flow;->results(I)J
    move-result-wide v0
    long-to-int v0, v0
    invoke-static {v0}, Lsmali/Flow;->log(I)V
    if-lez p0, :small
    invoke-static {p0}, Lsmali/Flow;->ever(I)I
    move-result v0
    invoke-static {v0}, Lsmali/Flow;->log(I)V
    :small
    invoke-static {}, Lsmali/Flow;->nothing()V
    new-instance v0, Ljava/lang/IllegalArgumentException;
    invoke-direct {v0}, Ljava/lang/IllegalArgumentException;-><init>()V
    invoke-static {v0}, Lsmali/Flow;->same(Ljava/lang/Object;)Ljava/lang/Object;
    :try
    invoke-static {v0}, Lsmali/Flow;->onlyThrows(Ljava/lang/RuntimeException;)V
    :end
    .catch Ljava/lang/IllegalArgumentException; {:try .. :end} :caught
    :caught
    return-void
.end method

.method public static main([Ljava/lang/String;)V
    .registers 3
    const/4 v0, -2
    :again
    invoke-static {v0}, Lsmali/Flow;->call(I)V
    add-int/lit8 v0, v0, 1
    const/16 v1, 9
    if-lt v0, v1, :again
    return-void
.end method
