/** A half-open range of a revision's rows. */
export interface RowRange {
  start: number;
  end: number;
}
