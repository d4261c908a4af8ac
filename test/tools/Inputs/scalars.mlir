// Five parameters of 0 dimensions.
func.func @train_step(
    %a: tensor<f32> {sfsdp.role = #sfsdp.role<parameter "a">},
    %b: tensor<f32> {sfsdp.role = #sfsdp.role<parameter "b">},
    %c: tensor<f32> {sfsdp.role = #sfsdp.role<parameter "c">},
    %d: tensor<f32> {sfsdp.role = #sfsdp.role<parameter "d">},
    %e: tensor<f32> {sfsdp.role = #sfsdp.role<parameter "e">},
    %x: tensor<2xf32> {sfsdp.role = #sfsdp.role<input "x">})
    -> (tensor<f32> {sfsdp.role = #sfsdp.role<loss "loss">},
        tensor<f32> {sfsdp.role = #sfsdp.role<gradient "a">}) {
  %l = sfsdp.aten "sum.default"(%x) scope <forward ""> : (tensor<2xf32>) -> tensor<f32>
  return %l, %l : tensor<f32>, tensor<f32>
}
