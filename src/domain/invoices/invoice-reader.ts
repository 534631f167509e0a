// The reader of invoices is a chunk that a start does not load. The first upload loads it, or older documents.

/** Loads the reader. */
export function loadRecognition(): Promise<typeof import('./recognition.ts')> {
  return import('./recognition.ts')
}
