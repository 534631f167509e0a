// Runs long work in slices, so that the page stays responsive in between.

const SLICE_MS = 10

/** @throws DOMException if the signal is aborted */
export async function runSlices<T>(work: Generator<undefined, T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    const end = performance.now() + SLICE_MS
    do {
      const { done, value } = work.next()
      if (done) return value
    } while (performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve))
    signal.throwIfAborted()
  }
}
