// SPIR-V is a dialect here, whose operations are made from Khronos's own table; `-t spirv-asm`
// prints it as Khronos's tools do, and `-t spirv` writes the binary.
//
// RUN: xtile-opt %s -p lane-to-spirv | filecheck %s
// RUN: xtile-opt %s -t spirv-asm | filecheck %s --check-prefix=ASM
gpu.module @kernels {
  gpu.func @gather(%x: memref<?xf32>, %index: memref<?xindex>, %y: memref<?xf32>) kernel {
    %i = gpu.global_id x
    %place = memref.load %index[%i] : memref<?xindex>
    %a = memref.load %x[%place] : memref<?xf32>
    %b = math.sqrt %a : f32
    memref.store %b, %y[%i] : memref<?xf32>
    gpu.return
  }
}

// CHECK:      "spirv.module"() <{addressing_model = "Physical64", memory_model = "OpenCL"
// CHECK:      %i = "spirv.CompositeExtract"
// CHECK:      %place = "spirv.Load"
// CHECK:      %b = spirv.CL.sqrt %a : f32

// ASM:        %[[MATH:.*]] = OpExtInstImport "OpenCL.std"
// ASM:        %i = OpCompositeExtract %ulong %{{.*}} 0
// ASM:        %place = OpLoad %ulong
// ASM:        %a = OpLoad %float
// ASM-NEXT:   %b = OpExtInst %float %[[MATH]] sqrt %a
