/** The columns that describe a generation, in the results and in the decisions of a review. */
export const describingColumns = [
  "line",
  "task_id",
  "status",
  "product_id",
  "product_reference",
  "model_id",
  "background",
  "angle_shot",
] as const;
