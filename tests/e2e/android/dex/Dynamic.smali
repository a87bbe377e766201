.class public Ltest/Dynamic;
.super Ljava/lang/Object;
.field static handle:Ljava/lang/invoke/MethodHandle;
.field one:I
.method public static bootstrap(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;ILjava/lang/String;Ljava/lang/Class;JFD)Ljava/lang/invoke/CallSite;
    .registers 11
    const/4 v0, 0x0
    return-object v0
.end method
.method public static call()V
    .registers 3
    invoke-custom {}, one("first", ()V, 0x7, "seven", Ltest/Dynamic;, 0x8L, 1.0f, 2.0)@Ltest/Dynamic;->bootstrap(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;ILjava/lang/String;Ljava/lang/Class;JFD)Ljava/lang/invoke/CallSite;
    invoke-custom {}, two("second", ()V, 0x9, "nine", Ltest/Dynamic;, 0x8L, 1.0f, 2.0)@Ltest/Dynamic;->bootstrap(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;ILjava/lang/String;Ljava/lang/Class;JFD)Ljava/lang/invoke/CallSite;
    return-void
.end method
.method public static poly(Ljava/lang/invoke/MethodHandle;I)I
    .registers 4
    invoke-polymorphic {p0, p1}, Ljava/lang/invoke/MethodHandle;->invokeExact([Ljava/lang/Object;)Ljava/lang/Object;, (I)I
    move-result v0
    return v0
.end method
