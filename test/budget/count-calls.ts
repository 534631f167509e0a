// Counts function calls, those of Node and of packages too, and bytes allocated on the heap.

import { Session } from 'node:inspector'
import { getHeapStatistics } from 'node:v8'
import type { Counts } from './measure.ts'

type Coverage = { result: { functions: { ranges: { count: number }[] }[] }[] }

/** Starts V8's exact count of calls. The code runs without inlined functions from then on. */
export function countCalls(): { start(): void; read(): Counts } {
  const session = new Session()
  session.connect()
  const post = (method: string, params: object = {}): unknown => {
    let answer: unknown
    session.post(method, params, (error, result) => {
      if (error) throw error
      answer = result
    })
    return answer
  }
  post('Profiler.enable')
  post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  let allocated = 0
  return {
    start() {
      post('Profiler.takePreciseCoverage') // sets the counts to 0
      allocated = allocatedBytes()
    },
    read() {
      const bytes = allocatedBytes() - allocated
      const { result } = post('Profiler.takePreciseCoverage') as Coverage
      let calls = 0
      for (const { functions } of result) for (const { ranges } of functions) calls += ranges[0]?.count ?? 0
      return { calls, bytes }
    },
  }
}

function allocatedBytes(): number {
  return (getHeapStatistics() as { total_allocated_bytes?: number }).total_allocated_bytes ?? Number.NaN
}
