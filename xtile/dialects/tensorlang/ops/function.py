"""Functions.

Source: tensor language reference, section "Functions".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import Attribute, BlockArgument, Region
from xdsl.irdl import opt_prop_def, prop_def, region_def, traits_def
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface

from xtile.dialects.definitions import op_definition
from xtile.dialects.tensorlang.operation import (
    TensorLangOperation,
    integer_attribute,
    region_of,
)


@op_definition
class FuncOp(TensorLangOperation):
    """A kernel, which the host can launch ("Functions").

    ```
    func @f(%A: memref<f32x?x?> {shape_gcd=[4]}) attributes {subgroup_size=16} {
    }
    ```

    The body's arguments are the parameters. `subgroup_size` is an IntegerAttr and
    `work_group_size` an ArrayAttr of two IntegerAttr, both in work-items. `parameter_attributes`
    holds one DictionaryAttr for each parameter (alignment in bytes, shape_gcd, stride_gcd), and
    is left out where no parameter has any.
    """

    name = "tensorlang.func"
    SYNTAX: ClassVar[str] = "func()"

    sym_name = prop_def(StringAttr)
    subgroup_size = opt_prop_def(Attribute)
    work_group_size = opt_prop_def(Attribute)
    parameter_attributes = opt_prop_def(ArrayAttr[DictionaryAttr])
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), IsolatedFromAbove(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        parameters: Sequence[Attribute] = (),
        body: Region | None = None,
        *,
        subgroup_size: int | None = None,
        work_group_size: tuple[int, int] | None = None,
        parameter_attributes: Sequence[Mapping[str, Attribute]] | None = None,
    ) -> None:
        properties: dict[str, Attribute] = {"sym_name": StringAttr(name)}
        if subgroup_size is not None:
            properties["subgroup_size"] = integer_attribute(subgroup_size)
        if work_group_size is not None:
            sizes = [integer_attribute(size) for size in work_group_size]
            properties["work_group_size"] = ArrayAttr(sizes)
        if parameter_attributes is not None:
            known = [DictionaryAttr(dict(own)) for own in parameter_attributes]
            properties["parameter_attributes"] = ArrayAttr(known)
        super().__init__(properties=properties, regions=[region_of(body, parameters)])

    @property
    def parameters(self) -> tuple[BlockArgument, ...]:
        """The parameters, in signature order."""
        return tuple(self.body.block.args)

    def attributes_of_parameter(self, index: int) -> dict[str, Attribute]:
        """The named attributes of one parameter; empty where it has none."""
        if self.parameter_attributes is None or index >= len(self.parameter_attributes.data):
            return {}
        return dict(self.parameter_attributes.data[index].data)
