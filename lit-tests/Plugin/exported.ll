; smooth: what its pass sequence is for; written by `r3 export-test`.
; variant 9a16a96759bd: a sequence of passes by hand
; Each check fails with the original's pipeline, r3-default<O2>.
;
; RUN: opt -load-pass-plugin=%r3plugin -mcpu=sm_90 -mattr=+ptx88,+sm_90 \
; RUN:   -enable-memcpyopt-without-libcalls -passes='r3-default<O1>' %s -S -o %t.ll
; RUN: FileCheck %s --check-prefix=STORES < %t.ll
;
; 1 x store float; 2 without
; STORES-COUNT-1: store float {{.*}}, ptr
; STORES-NOT: store float {{.*}}, ptr

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Function Attrs: convergent mustprogress nounwind
define internal void @_Z4stepPKfPfii(ptr noundef %0, ptr noundef %1, i32 noundef %2, i32 noundef %3) #0 {
  %5 = alloca ptr, align 8
  %6 = alloca ptr, align 8
  %7 = alloca i32, align 4
  %8 = alloca i32, align 4
  store ptr %0, ptr %5, align 8, !tbaa !11
  store ptr %1, ptr %6, align 8, !tbaa !11
  store i32 %2, ptr %7, align 4, !tbaa !6
  store i32 %3, ptr %8, align 4, !tbaa !6
  %9 = load i32, ptr %8, align 4, !tbaa !6
  %10 = icmp sgt i32 %9, 0
  br i1 %10, label %11, label %43

11:                                               ; preds = %4
  %12 = load i32, ptr %8, align 4, !tbaa !6
  %13 = add nsw i32 %12, 1
  %14 = load i32, ptr %7, align 4, !tbaa !6
  %15 = icmp slt i32 %13, %14
  br i1 %15, label %16, label %43

16:                                               ; preds = %11
  %17 = load ptr, ptr %5, align 8, !tbaa !11
  %18 = load i32, ptr %8, align 4, !tbaa !6
  %19 = sub nsw i32 %18, 1
  %20 = sext i32 %19 to i64
  %21 = getelementptr inbounds float, ptr %17, i64 %20
  %22 = load float, ptr %21, align 4, !tbaa !14
  %23 = fmul contract float 2.500000e-01, %22
  %24 = load ptr, ptr %5, align 8, !tbaa !11
  %25 = load i32, ptr %8, align 4, !tbaa !6
  %26 = sext i32 %25 to i64
  %27 = getelementptr inbounds float, ptr %24, i64 %26
  %28 = load float, ptr %27, align 4, !tbaa !14
  %29 = fmul contract float 5.000000e-01, %28
  %30 = fadd contract float %23, %29
  %31 = load ptr, ptr %5, align 8, !tbaa !11
  %32 = load i32, ptr %8, align 4, !tbaa !6
  %33 = add nsw i32 %32, 1
  %34 = sext i32 %33 to i64
  %35 = getelementptr inbounds float, ptr %31, i64 %34
  %36 = load float, ptr %35, align 4, !tbaa !14
  %37 = fmul contract float 2.500000e-01, %36
  %38 = fadd contract float %30, %37
  %39 = load ptr, ptr %6, align 8, !tbaa !11
  %40 = load i32, ptr %8, align 4, !tbaa !6
  %41 = sext i32 %40 to i64
  %42 = getelementptr inbounds float, ptr %39, i64 %41
  store float %38, ptr %42, align 4, !tbaa !14
  br label %58

43:                                               ; preds = %11, %4
  %44 = load i32, ptr %8, align 4, !tbaa !6
  %45 = load i32, ptr %7, align 4, !tbaa !6
  %46 = icmp slt i32 %44, %45
  br i1 %46, label %47, label %57

47:                                               ; preds = %43
  %48 = load ptr, ptr %5, align 8, !tbaa !11
  %49 = load i32, ptr %8, align 4, !tbaa !6
  %50 = sext i32 %49 to i64
  %51 = getelementptr inbounds float, ptr %48, i64 %50
  %52 = load float, ptr %51, align 4, !tbaa !14
  %53 = load ptr, ptr %6, align 8, !tbaa !11
  %54 = load i32, ptr %8, align 4, !tbaa !6
  %55 = sext i32 %54 to i64
  %56 = getelementptr inbounds float, ptr %53, i64 %55
  store float %52, ptr %56, align 4, !tbaa !14
  br label %57

57:                                               ; preds = %47, %43
  br label %58

58:                                               ; preds = %57, %16
  ret void
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z6smoothPKfPfi(ptr noundef %0, ptr noundef %1, i32 noundef %2) #1 {
  %4 = alloca ptr, align 8
  %5 = alloca ptr, align 8
  %6 = alloca i32, align 4
  %7 = alloca i32, align 4
  %8 = alloca i32, align 4
  store ptr %0, ptr %4, align 8, !tbaa !11
  store ptr %1, ptr %5, align 8, !tbaa !11
  store i32 %2, ptr %6, align 4, !tbaa !6
  call void @llvm.lifetime.start.p0(ptr %7) #5
  %9 = call noundef i32 @__r3_f0() #6
  %10 = call noundef i32 @__r3_f1() #6
  %11 = mul i32 %9, %10
  store i32 %11, ptr %7, align 4, !tbaa !6
  call void @llvm.lifetime.start.p0(ptr %8) #5
  %12 = call noundef i32 @__r3_f2() #6
  %13 = call noundef i32 @__r3_f1() #6
  %14 = mul i32 %12, %13
  %15 = call noundef i32 @__r3_f3() #6
  %16 = add i32 %14, %15
  store i32 %16, ptr %8, align 4, !tbaa !6
  br label %17

17:                                               ; preds = %27, %3
  %18 = load i32, ptr %8, align 4, !tbaa !6
  %19 = load i32, ptr %6, align 4, !tbaa !6
  %20 = icmp slt i32 %18, %19
  br i1 %20, label %22, label %21

21:                                               ; preds = %17
  call void @llvm.lifetime.end.p0(ptr %8) #5
  br label %31

22:                                               ; preds = %17
  %23 = load ptr, ptr %4, align 8, !tbaa !11
  %24 = load ptr, ptr %5, align 8, !tbaa !11
  %25 = load i32, ptr %6, align 4, !tbaa !6
  %26 = load i32, ptr %8, align 4, !tbaa !6
  call void @_Z4stepPKfPfii(ptr noundef %23, ptr noundef %24, i32 noundef %25, i32 noundef %26) #6
  br label %27

27:                                               ; preds = %22
  %28 = load i32, ptr %7, align 4, !tbaa !6
  %29 = load i32, ptr %8, align 4, !tbaa !6
  %30 = add nsw i32 %29, %28
  store i32 %30, ptr %8, align 4, !tbaa !6
  br label %17, !llvm.loop !16

31:                                               ; preds = %21
  call void @llvm.lifetime.end.p0(ptr %7) #5
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #2

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @__r3_f0() #3 align 2 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  ret i32 %1
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @__r3_f1() #3 align 2 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  ret i32 %1
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @__r3_f2() #3 align 2 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  ret i32 %1
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @__r3_f3() #3 align 2 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %1
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #2

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, -2147483648) i32 @llvm.nvvm.read.ptx.sreg.nctaid.x() #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #4

attributes #0 = { convergent mustprogress nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx88,+sm_90" }
attributes #1 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx88,+sm_90" "uniform-work-group-size"="true" }
attributes #2 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #3 = { alwaysinline convergent mustprogress nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx88,+sm_90" }
attributes #4 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #5 = { nounwind }
attributes #6 = { convergent nounwind }

!llvm.module.flags = !{!0, !1, !2, !3}
!llvm.ident = !{!4, !5}
!llvm.errno.tbaa = !{!6}
!nvvmir.version = !{!10}
!r3.device = !{}

!0 = !{i32 2, !"SDK Version", [2 x i32] [i32 12, i32 9]}
!1 = !{i32 1, !"wchar_size", i32 4}
!2 = !{i32 4, !"nvvm-reflect-ftz", i32 0}
!3 = !{i32 7, !"frame-pointer", i32 2}
!4 = !{!"Debian clang version 22.1.8 (1~deb12u1)"}
!5 = !{!"clang version 3.8.0 (tags/RELEASE_380/final)"}
!6 = !{!7, !7, i64 0}
!7 = !{!"int", !8, i64 0}
!8 = !{!"omnipotent char", !9, i64 0}
!9 = !{!"Simple C++ TBAA"}
!10 = !{i32 2, i32 0}
!11 = !{!12, !12, i64 0}
!12 = !{!"p1 float", !13, i64 0}
!13 = !{!"any pointer", !8, i64 0}
!14 = !{!15, !15, i64 0}
!15 = !{!"float", !8, i64 0}
!16 = distinct !{!16, !17, !18}
!17 = !{!"llvm.loop.mustprogress"}
!18 = !{!"llvm.loop.unroll.disable"}
