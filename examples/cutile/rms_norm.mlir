module {
  cuda_tile.module @kernels {
    entry @rms_norm_Kt1_A2f32_1l0_2t1_A1f32_1t1_A2f32_1l0_2t1_Sf32_I4_I64(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<i32>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<ptr<f32>>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<ptr<f32>>, %arg9: tile<i32>, %arg10: tile<i32>, %arg11: tile<i32>, %arg12: tile<i32>, %arg13: tile<f32>) optimization_hints=<default = {}> {
      %0 = make_token : token
      %1 = constant <i32: 1> : tile<i32>
      %2 = constant <i32: 1> : tile<i32>
      %3 = constant <i32: 1> : tile<i32>
      %4 = assume bounded<0, ?>, %arg1 : tile<i32>
      %5 = assume bounded<0, ?>, %arg2 : tile<i32>
      %6 = assume bounded<0, ?>, %arg3 : tile<i32>
      %7 = make_tensor_view %arg0, shape = [%4, %5], strides = [%6, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
      %8 = assume bounded<0, ?>, %arg6 : tile<i32>
      %9 = make_tensor_view %arg5, shape = [%8], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
      %10 = assume bounded<0, ?>, %arg9 : tile<i32>
      %11 = assume bounded<0, ?>, %arg10 : tile<i32>
      %12 = assume bounded<0, ?>, %arg11 : tile<i32>
      %13 = make_tensor_view %arg8, shape = [%10, %11], strides = [%12, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
      %14 = constant <i32: 64> : tile<i32>
      %15:3 = get_tile_block_id : tile<i32>
      %16 = constant <f32: 0.000000e+00> : tile<4x64xf32>
      %17 = divi %5, %14 signed rounding<positive_inf> : tile<i32>
      %18 = constant <i32: 0> : tile<i32>
      %19 = constant <i32: 1> : tile<i32>
      %20 = make_partition_view %7 : partition_view<tile=(4x64), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
      %21 = for %arg14 in (%18 to %17, step %19) : tile<i32> iter_values(%arg15 = %16) -> (tile<4x64xf32>) {
        %39:2 = load_view_tko weak %20[%15#0, %arg14] token = %0 : partition_view<tile=(4x64), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<4x64xf32>, token
        %40 = fma %39#0, %39#0, %arg15 : tile<4x64xf32>
        continue %40 : tile<4x64xf32>
      }
      %22 = reduce %21 dim=1 identities=[0.000000e+00 : f32] : tile<4x64xf32> -> tile<4xf32> 
      (%arg14: tile<f32>, %arg15: tile<f32>) {
        %39 = addf %arg14, %arg15 : tile<f32>
        yield %39 : tile<f32>
      }
      %23 = reshape %22 : tile<4xf32> -> tile<4x1xf32>
      %24 = itof %5 signed : tile<i32> -> tile<f32>
      %25 = reshape %24 : tile<f32> -> tile<1x1xf32>
      %26 = broadcast %25 : tile<1x1xf32> -> tile<4x1xf32>
      %27 = divf %23, %26 : tile<4x1xf32>
      %28 = reshape %arg13 : tile<f32> -> tile<1x1xf32>
      %29 = broadcast %28 : tile<1x1xf32> -> tile<4x1xf32>
      %30 = addf %27, %29 : tile<4x1xf32>
      %31 = rsqrt %30 : tile<4x1xf32>
      %32 = divi %5, %14 signed rounding<positive_inf> : tile<i32>
      %33 = constant <i32: 0> : tile<i32>
      %34 = constant <i32: 1> : tile<i32>
      %35 = make_partition_view %7 : partition_view<tile=(4x64), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
      %36 = make_partition_view %9 : partition_view<tile=(64), padding_value = zero, tensor_view<?xf32, strides=[1]>>
      %37 = broadcast %31 : tile<4x1xf32> -> tile<4x64xf32>
      %38 = make_partition_view %13 : partition_view<tile=(4x64), tensor_view<?x?xf32, strides=[?,1]>>
      for %arg14 in (%33 to %32, step %34) : tile<i32> {
        %39:2 = load_view_tko weak %35[%15#0, %arg14] token = %0 : partition_view<tile=(4x64), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<4x64xf32>, token
        %40:2 = load_view_tko weak %36[%arg14] token = %0 : partition_view<tile=(64), padding_value = zero, tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<64xf32>, token
        %41 = mulf %39#0, %37 : tile<4x64xf32>
        %42 = reshape %40#0 : tile<64xf32> -> tile<1x64xf32>
        %43 = broadcast %42 : tile<1x64xf32> -> tile<4x64xf32>
        %44 = mulf %41, %43 : tile<4x64xf32>
        %45 = store_view_tko weak %44, %38[%15#0, %arg14] token = %0 : tile<4x64xf32>, partition_view<tile=(4x64), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
      }
      return
    }
  }
}
