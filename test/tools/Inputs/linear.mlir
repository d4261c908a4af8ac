module {
  func.func @train_step(
      %w: tensor<4x3xf32> {sfsdp.role = #sfsdp.role<parameter "proj.weight">},
      %x: tensor<5x3xf32> {sfsdp.role = #sfsdp.role<input "x">})
      -> (tensor<f32> {sfsdp.role = #sfsdp.role<loss "loss">}, tensor<4x3xf32> {sfsdp.role = #sfsdp.role<gradient "proj.weight">}) {
    %t = sfsdp.aten "t.default"(%w) scope <forward "proj"> : (tensor<4x3xf32>) -> tensor<3x4xf32, #sfsdp.strides<[1, 3]>>
    %y = sfsdp.aten "mm.default"(%x, %t) scope <forward "proj"> : (tensor<5x3xf32>, tensor<3x4xf32, #sfsdp.strides<[1, 3]>>) -> tensor<5x4xf32>
    %l = sfsdp.aten "sum.default"(%y) scope <forward ""> : (tensor<5x4xf32>) -> tensor<f32>
    %one = sfsdp.aten "ones_like.default"(%l) scope <backward ""> : (tensor<f32>) -> tensor<f32>
    %e = sfsdp.aten "expand.default"(%one, [5, 4]) scope <backward ""> : (tensor<f32>) -> tensor<5x4xf32, #sfsdp.strides<[0, 0]>>
    %et = sfsdp.aten "t.default"(%e) scope <backward "proj"> : (tensor<5x4xf32, #sfsdp.strides<[0, 0]>>) -> tensor<4x5xf32, #sfsdp.strides<[0, 0]>>
    %g = sfsdp.aten "mm.default"(%et, %x) scope <backward "proj"> : (tensor<4x5xf32, #sfsdp.strides<[0, 0]>>, tensor<5x3xf32>) -> tensor<4x3xf32>
    return %l, %g : tensor<f32>, tensor<4x3xf32>
  }
}
