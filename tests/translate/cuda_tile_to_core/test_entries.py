"""What tests of the meaning run gives the same when it is raised, and when it is lowered again."""

from __future__ import annotations

import pytest

from tests.semantics.cuda_tile import (
    test_atomics,
    test_control,
    test_kernels,
    test_memory,
    test_outside_of_the_index_space,
    test_random_views,
    test_views,
)
from tests.semantics.cuda_tile.test_atomics import (
    test_compare_and_swap,
    test_elements_that_are_swapped_twice,
    test_floats,
    test_floats_are_compared_by_their_bits,
    test_integers,
    test_views_on_one_place,
)
from tests.semantics.cuda_tile.test_atomics import test_views as test_updates_of_views
from tests.semantics.cuda_tile.test_control import (
    TestAssert,
    test_a_loop_that_ends_with_break,
    test_break_leaves_the_innermost_loop_only,
    test_break_out_of_conditions_in_conditions,
    test_continue_in_a_condition,
    test_if,
    test_if_without_else,
    test_iterations,
    test_loops_of_unsigned_numbers,
    test_loops_without_values,
    test_return_ends_a_tile_block,
    test_return_in_a_loop_ends_a_tile_block,
    test_the_variable_and_carried_values,
)
from tests.semantics.cuda_tile.test_kernels import (
    test_quantization_to_eight_bits,
    test_random_numbers_from_high_products,
    test_softmax,
)
from tests.semantics.cuda_tile.test_memory import (
    test_copies_keep_all_bits,
    test_masked_elements_are_the_padding,
    test_masked_stores_leave_memory_as_it_is,
    test_memory_seen_as_another_type,
    test_nothing_is_accessed_where_no_mask_is_set,
    test_offsets_are_signed_and_count_elements,
    test_pointers_may_lead_to_several_arrays,
    test_scalars_and_tiles_of_any_rank,
    test_tf32_keeps_bits_that_it_does_not_have,
)
from tests.semantics.cuda_tile.test_outside_of_the_index_space import (
    test_a_load_gives_the_padding,
    test_each_padding,
)
from tests.semantics.cuda_tile.test_random_views import (
    test_atomic_updates,
    test_loads,
    test_stores,
)
from tests.semantics.cuda_tile.test_views import (
    test_a_tile_at_the_edge_is_padded,
    test_gathered_columns,
    test_gathered_rows,
    test_scattered_rows_outside_go_nowhere,
    test_shapes,
    test_sizes_and_strides_known_at_run_time,
    test_stores_at_the_edge_stay_inside,
    test_the_order_of_dimensions,
    test_tiles_with_gaps_and_another_order,
    test_tiles_with_gaps_or_overlaps,
    test_types_of_elements,
)
from tests.translate.cuda_tile_to_core.raised import WAYS, runs_as

MODULES = (
    test_atomics,
    test_control,
    test_kernels,
    test_memory,
    test_outside_of_the_index_space,
    test_random_views,
    test_views,
)

__all__ = [
    "TestAssert",
    "test_a_load_gives_the_padding",
    "test_a_loop_that_ends_with_break",
    "test_a_tile_at_the_edge_is_padded",
    "test_atomic_updates",
    "test_break_leaves_the_innermost_loop_only",
    "test_break_out_of_conditions_in_conditions",
    "test_compare_and_swap",
    "test_continue_in_a_condition",
    "test_copies_keep_all_bits",
    "test_each_padding",
    "test_elements_that_are_swapped_twice",
    "test_floats",
    "test_floats_are_compared_by_their_bits",
    "test_gathered_columns",
    "test_gathered_rows",
    "test_if",
    "test_if_without_else",
    "test_integers",
    "test_iterations",
    "test_loads",
    "test_loops_of_unsigned_numbers",
    "test_loops_without_values",
    "test_masked_elements_are_the_padding",
    "test_masked_stores_leave_memory_as_it_is",
    "test_memory_seen_as_another_type",
    "test_nothing_is_accessed_where_no_mask_is_set",
    "test_offsets_are_signed_and_count_elements",
    "test_pointers_may_lead_to_several_arrays",
    "test_quantization_to_eight_bits",
    "test_random_numbers_from_high_products",
    "test_return_ends_a_tile_block",
    "test_return_in_a_loop_ends_a_tile_block",
    "test_scalars_and_tiles_of_any_rank",
    "test_scattered_rows_outside_go_nowhere",
    "test_shapes",
    "test_sizes_and_strides_known_at_run_time",
    "test_softmax",
    "test_stores",
    "test_stores_at_the_edge_stay_inside",
    "test_tf32_keeps_bits_that_it_does_not_have",
    "test_the_order_of_dimensions",
    "test_the_variable_and_carried_values",
    "test_tiles_with_gaps_and_another_order",
    "test_tiles_with_gaps_or_overlaps",
    "test_types_of_elements",
    "test_updates_of_views",
    "test_views",
    "test_views_on_one_place",
]  # They are collected here, too.


@pytest.fixture(autouse=True, params=WAYS)
def _run_what_becomes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in MODULES:
        monkeypatch.setattr(module, "run", runs_as(WAYS[request.param]))
