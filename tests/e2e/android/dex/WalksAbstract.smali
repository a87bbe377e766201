.class public interface abstract Ltest/Walks;
.super Ljava/lang/Object;
.source "Walks.java"
.method public abstract walk()Ljava/lang/String;
.end method
