# A method that may throw with a monitor held and no handler of its own.
.class public LRest;
.super Ljava/lang/Object;

.method public static held(Ljava/lang/Object;)V
    .registers 1
    monitor-enter p0
    invoke-static {}, Ljava/lang/System;->gc()V
    monitor-exit p0
    return-void
.end method
