.class public interface abstract annotation Ltest/Marked;
.super Ljava/lang/Object;
.implements Ljava/lang/annotation/Annotation;
.annotation system Ldalvik/annotation/AnnotationDefault;
    value = .subannotation Ltest/Marked;
        number = 0x2a
    .end subannotation
.end annotation
.method public abstract number()I
.end method
