# Monitors as compilers of other languages, and optimisers, leave them.
.class public Lsmali/Locks;
.super Ljava/lang/Object;

# The pattern of javac and dx: the exit in the handler is covered by the handler itself.
.method static pattern(Ljava/lang/Object;I)I
    .registers 5
    monitor-enter p0
    :try
    invoke-static {p1}, Lsmali/Flow;->fail(I)I
    move-result v0
    monitor-exit p0
    :end
    .catchall {:try .. :end} :caught
    return v0
    :caught
    :try2
    move-exception v1
    monitor-exit p0
    :end2
    .catchall {:try2 .. :end2} :caught
    throw v1
.end method

# The lock lives in another register by the time of the exit, and returns are inside.
.method static moved(Ljava/lang/Object;I)I
    .registers 6
    move-object v2, p0
    monitor-enter v2
    :try
    if-nez p1, :other
    monitor-exit v2
    :end
    .catchall {:try .. :end} :caught
    const/4 v0, 0
    return v0
    :other
    :try2
    invoke-static {p1}, Lsmali/Flow;->fail(I)I
    move-result v0
    monitor-exit v2
    :end2
    .catchall {:try2 .. :end2} :caught
    return v0
    :caught
    move-exception v1
    monitor-exit v2
    throw v1
.end method

# In a loop, entered and left each time.
.method static loop(Ljava/lang/Object;I)I
    .registers 5
    const/4 v0, 0
    :again
    if-lez p1, :done
    monitor-enter p0
    :try
    add-int/lit8 v1, p1, -2
    invoke-static {v1}, Lsmali/Flow;->fail(I)I
    move-result v1
    add-int/2addr v0, v1
    monitor-exit p0
    :end
    .catchall {:try .. :end} :caught
    :next
    add-int/lit8 p1, p1, -1
    goto :again
    :caught
    move-exception v1
    monitor-exit p0
    add-int/lit8 v0, v0, 50
    goto :next
    :done
    return v0
.end method

# A synchronized method with monitors of its own and every way out.
.method static declared-synchronized both(Ljava/lang/Object;I)I
    .registers 5
    monitor-enter p0
    :try
    packed-switch p1, :table
    monitor-exit p0
    :end
    .catchall {:try .. :end} :caught
    return p1
    :zero
    :try2
    invoke-static {p1}, Lsmali/Flow;->fail(I)I
    :one
    monitor-exit p0
    :end2
    .catchall {:try2 .. :end2} :caught
    const/16 v0, 21
    return v0
    :caught
    move-exception v1
    monitor-exit p0
    throw v1
    :table
    .packed-switch 0
        :zero
        :one
    .end packed-switch
.end method

.method static held(Ljava/lang/Object;)V
    .registers 2
    invoke-static {p0}, Ljava/lang/Thread;->holdsLock(Ljava/lang/Object;)Z
    move-result v0
    invoke-static {v0}, Lsmali/Flow;->log(I)V
    return-void
.end method

.method static call(Ljava/lang/Object;II)V
    .registers 6
    :try
    packed-switch p1, :table
    return-void
    :pattern
    invoke-static {p0, p2}, Lsmali/Locks;->pattern(Ljava/lang/Object;I)I
    move-result v0
    goto :print
    :crossed
    const-class v1, Lsmali/Locks;
    invoke-static {p0, v1, p2}, Lsmali/Crossed;->crossed(Ljava/lang/Object;Ljava/lang/Object;I)I
    move-result v0
    goto :print
    :moved
    invoke-static {p0, p2}, Lsmali/Locks;->moved(Ljava/lang/Object;I)I
    move-result v0
    goto :print
    :loop
    invoke-static {p0, p2}, Lsmali/Locks;->loop(Ljava/lang/Object;I)I
    move-result v0
    goto :print
    :both
    invoke-static {p0, p2}, Lsmali/Locks;->both(Ljava/lang/Object;I)I
    move-result v0
    :print
    invoke-static {v0}, Lsmali/Flow;->log(I)V
    :end
    .catch Ljava/lang/IllegalStateException; {:try .. :end} :caught
    .catch Ljava/lang/NullPointerException; {:try .. :end} :none
    :out
    if-eqz p0, :skip
    invoke-static {p0}, Lsmali/Locks;->held(Ljava/lang/Object;)V
    :skip
    return-void
    :caught
    const/16 v0, -99
    invoke-static {v0}, Lsmali/Flow;->log(I)V
    goto :out
    :none
    const/16 v0, -88
    invoke-static {v0}, Lsmali/Flow;->log(I)V
    goto :out
    :table
    .packed-switch 0
        :pattern
        :crossed
        :moved
        :loop
        :both
    .end packed-switch
.end method

.method public static main([Ljava/lang/String;)V
    .registers 5
    const/4 v0, 0
    :kinds
    const/4 v1, -1
    :values
    const-string v2, "lock"
    invoke-static {v2, v0, v1}, Lsmali/Locks;->call(Ljava/lang/Object;II)V
    const/4 v2, 0
    invoke-static {v2, v0, v1}, Lsmali/Locks;->call(Ljava/lang/Object;II)V
    add-int/lit8 v1, v1, 1
    const/4 v2, 5
    if-lt v1, v2, :values
    add-int/lit8 v0, v0, 1
    if-lt v0, v2, :kinds
    return-void
.end method
