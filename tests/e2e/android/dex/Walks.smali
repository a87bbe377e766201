.class public interface abstract Ltest/Walks;
.super Ljava/lang/Object;
.source "Walks.java"
.method public walk()Ljava/lang/String;
    .registers 2
    .line 5
    const-string v0, "walks"
    return-object v0
.end method
.method public static still()V
    .registers 0
    return-void
.end method
