.class public Ltest/Hidden;
.super Ljava/lang/Object;
.field public blacklist core-platform-api one:I
.field public static whitelist two:I
.method public greylist run()V
    .registers 1
    return-void
.end method
.method public static greylist-max-o go()V
    .registers 0
    return-void
.end method
