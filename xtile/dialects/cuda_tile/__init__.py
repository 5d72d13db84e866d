"""The `cuda_tile` dialect: CUDA Tile IR, NVIDIA's language of kernels on tiles.

```
cuda_tile.module @kernels {
  entry @double(%p: tile<ptr<f32>>) {
    %t = make_token : token
    %x, %t1 = load_ptr_tko weak %p token=%t : tile<ptr<f32>> -> tile<f32>, token
    %y = addf %x, %x : tile<f32>
    %t2 = store_ptr_tko weak %p, %y token=%t1 : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}
```

Source: CUDA Tile IR specification 13.3; NVIDIA/cuda-tile 13.3.0.
"""
