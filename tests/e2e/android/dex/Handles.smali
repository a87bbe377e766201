.class public Ltest/Handles;
.super Ljava/lang/Object;
.field one:I
.field static two:J
.method public static handles()V
    .registers 2
    const-method-handle v0, invoke-static@Ltest/Handles;->handles()V
    const-method-handle v0, instance-get@Ltest/Handles;->one:I
    const-method-handle v0, instance-put@Ltest/Handles;->one:I
    const-method-handle v0, static-get@Ltest/Handles;->two:J
    const-method-handle v0, static-put@Ltest/Handles;->two:J
    const-method-handle v0, invoke-constructor@Ljava/lang/Object;-><init>()V
    const-method-handle v0, invoke-interface@Ljava/lang/Runnable;->run()V
    const-method-type v1, (I[JLjava/lang/String;)Z
    return-void
.end method
