/**
 * Records what a run has read so far. The marks of its fields predict whether the result may be
 * shared; this record verifies it afterwards, so that a wrong mark shares nothing.
 */
export interface ReadRecord {
  /** True once the run has read a value of the viewer or of this one request. */
  isPersonal: boolean;
  /** True once the run has read the catalog of a group for which the viewer is proved. */
  readsCatalog: boolean;
}
