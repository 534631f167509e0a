// Converts the rows of a list with one request, and again after the connection returns.

import { useEffect, useRef, useState } from 'preact/hooks'
import { convertBatch } from '../../api/convert-batch.ts'
import type { Failure } from '../../api/request.ts'
import { refreshCount } from '../../components/use-api.ts'
import type { ShownSide } from '../../model/fragment.ts'
import { computeOutcomes, type ListTotal, type RowOutcome, sumOutcomes } from '../../model/pasted/outcomes.ts'
import { isConvertible, type PastedRow } from '../../model/pasted/rows.ts'
import { runSlices } from '../pasted/slices.ts'

export type ListRequest = { rows: readonly PastedRow[]; target: string; side: ShownSide }
export type ConvertedList = {
  outcomes: readonly RowOutcome[]
  total: ListTotal
  /** Target and side of these outcomes. */
  target: string
  side: ShownSide
  /** Milliseconds, when the server answered. */
  at: number
}
type Conversion = { request: ListRequest; list?: ConvertedList | undefined; failure?: Failure | undefined }

/** @param request undefined: nothing to convert yet; `isWanted` false discards the former list */
export function useConversion(request: ListRequest | undefined, isWanted: boolean) {
  const [state, setState] = useState<Conversion | undefined>(undefined)
  const finished = useRef<ListRequest | undefined>(undefined)
  const refresh = refreshCount.value
  const { rows, target, side } = request ?? {}
  useEffect(() => {
    if (!rows || !target || !side) return
    const current = { rows, target, side }
    if (isSameRequest(finished.current, current)) return
    const work = new AbortController()
    convertList(current, work.signal).then(
      (result) => {
        if (work.signal.aborted) return
        if (result.list) finished.current = current
        setState((old) => ({ request: current, list: result.list ?? old?.list, failure: result.failure }))
      },
      () => undefined, // aborted: other rows are converted
    )
    return () => work.abort()
  }, [rows, target, side, refresh])
  useEffect(() => {
    if (isWanted) return
    finished.current = undefined
    setState(undefined)
  }, [isWanted])
  const isCurrent = request !== undefined && isSameRequest(state?.request, request)
  return {
    list: isWanted ? state?.list : undefined,
    failure: isWanted && isCurrent ? state?.failure : undefined,
    isBusy: isWanted && !isCurrent,
  }
}

async function convertList(
  { rows, target, side }: ListRequest,
  signal: AbortSignal,
): Promise<{ list?: ConvertedList; failure?: Failure }> {
  const elements = rows.filter(isConvertible).map(({ number, amount, currency, day }) => ({
    ...{ id: String(number), amount: amount.replace('-', ''), from: currency, to: target },
    ...{ type: side, on: day },
  }))
  const { value, failure } = await convertBatch(elements, signal)
  if (failure) return { failure }
  const outcomes = await runSlices(computeOutcomes(rows, value.answers), signal)
  return { list: { outcomes, total: sumOutcomes(outcomes), target, side, at: value.at } }
}

function isSameRequest(a: ListRequest | undefined, b: ListRequest): boolean {
  return a?.rows === b.rows && a.target === b.target && a.side === b.side
}
