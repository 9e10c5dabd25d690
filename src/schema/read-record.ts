/**
 * What a run has read so far. The marks of its fields say beforehand whether the result may be shared,
 * this says afterwards whether it may: a field that is marked wrongly shows here.
 */
export interface ReadRecord {
  /** Something of the viewer's, or of this one request. */
  isPersonal: boolean;
  /** The catalog of a group for which the viewer is proved. */
  readsCatalog: boolean;
}
