# Locks that ART cannot follow: it runs this class more slowly, and says so, before rewriting and after.
.class public Lsmali/Crossed;
.super Ljava/lang/Object;

# Two locks, released out of their order.
.method static crossed(Ljava/lang/Object;Ljava/lang/Object;I)I
    .registers 6
    monitor-enter p0
    monitor-enter p1
    :try
    invoke-static {p2}, Lsmali/Flow;->fail(I)I
    move-result v0
    :end
    .catchall {:try .. :end} :caught
    monitor-exit p0
    monitor-exit p1
    return v0
    :caught
    move-exception v1
    monitor-exit p1
    monitor-exit p0
    throw v1
.end method
