.class public final enum Ltest/All;
.super Ljava/lang/Enum;
.source "All.java"
.implements Ljava/lang/Runnable;
.implements Ltest/Walks;

.annotation system Ldalvik/annotation/Signature;
    value = { "Ljava/lang/Enum<", "Ltest/All;", ">;" }
.end annotation
.annotation runtime Ltest/Marked;
    number = 0x7ffffff0
    wide = 0x123456789abcdef0L
    little = 0x1t
    small = -0x7s
    letter = '\u1234'
    single = 1.5f
    double = -1.0e300
    text = "gr\u00fc\u00df dich \ud83d\ude00"
    type = Ltest/All;
    types = { [[I, Ljava/lang/String;, V }
    method = Ltest/All;->run()V
    field = Ltest/All;->count:J
    kind = .enum Ltest/All;->ONE:Ltest/All;
    yes = true
    nothing = null
    inner = .subannotation Ltest/Marked;
        number = 0x0
    .end subannotation
    list = { 0x1, { }, { 0x2, "x" } }
.end annotation

.field public static final enum ONE:Ltest/All;
.field public static final a:Z = true
.field public static final b:B = -0x80t
.field public static final c:S = 0x7fffs
.field public static final d:C = '\uffff'
.field public static final e:I = -0x80000000
.field public static final f:J = 0x7fffffffffffffffL
.field public static final g:F = 1.17549435E-38f
.field public static final h:D = 4.9E-324
.field public static final i:Ljava/lang/String; = "a \" string\n"
.field public static final j:Ljava/lang/Class; = Ltest/All;
.field public static final k:Ljava/lang/Object; = null
.field static count:J
.field private volatile функция:I
.field protected transient data:[[D
    .annotation build Ltest/Marked;
        number = 0x5
    .end annotation
.end field

.method static constructor <clinit>()V
    .registers 4
    .line 10
    new-instance v0, Ltest/All;
    const-string v1, "ONE"
    const/4 v2, 0x0
    invoke-direct {v0, v1, v2}, Ltest/All;-><init>(Ljava/lang/String;I)V
    sput-object v0, Ltest/All;->ONE:Ltest/All;
    .line 12
    const-wide v0, 0x4010000000000000L
    sput-wide v0, Ltest/All;->count:J
    return-void
.end method

.method private constructor <init>(Ljava/lang/String;I)V
    .registers 3
    .param p1, "name"
        .annotation runtime Ltest/Marked;
            number = 0x1
        .end annotation
    .end param
    .param p2, "ordinal"
    .prologue
    .line 20
    invoke-direct {p0, p1, p2}, Ljava/lang/Enum;-><init>(Ljava/lang/String;I)V
    return-void
.end method

.method public run()V
    .registers 1
    .annotation runtime Ltest/Marked;
        number = 0x2
    .end annotation
    .line 30
    return-void
.end method

.method public runAgain()V
    .registers 1
    .line 30
    return-void
.end method

.method public synchronized über(I[JLjava/lang/String;)I
    .registers 10
    .param p1, "which"
    .param p3, "text"
    .prologue
    .line 40
    :start
    const/4 v0, 0x0
    .local v0, "sum":I
    packed-switch p1, :packed
    sparse-switch p1, :sparse
    .line 41
    :try_start
    invoke-virtual {p3}, Ljava/lang/String;->length()I
    move-result v0
    :try_end
    .catch Ljava/lang/NullPointerException; {:try_start .. :try_end} :null
    .catch Ljava/lang/IllegalStateException; {:try_start .. :try_end} :null
    .catchall {:try_start .. :try_end} :other
    .line 42
    :join
    const/4 v1, 0x3
    .local v1, "list":Ljava/util/List;, "Ljava/util/List<Ljava/lang/String;>;"
    new-array v2, v1, [I
    fill-array-data v2, :array
    .end local v1    # "list":Ljava/util/List;
    aget v3, v2, v0
    .restart local v1    # "list":Ljava/util/List;
    return v3
    :null
    move-exception v4
    .line 45
    goto :join
    :other
    move-exception v4
    throw v4
    :two
    check-cast p3, Ljava/lang/String;
    instance-of v0, p3, [Ljava/lang/Object;
    filled-new-array {v0, v0}, [I
    move-result-object v2
    .line 100000
    goto/32 :start
    :packed
    .packed-switch -0x1
        :two
        :join
        :two
    .end packed-switch
    :sparse
    .sparse-switch
        -0x80000000 -> :two
        0x7fffffff -> :join
    .end sparse-switch
    :array
    .array-data 4
        0x1
        -0x2
        0x7fffffff
    .end array-data
.end method
