// Places where tests of the gate measure the machine, each with its reason (machine.test.ts counts them).

export type Measure = 'wait' | 'clock' | 'limit'

export const EXCEPTIONS: Readonly<
  Record<Measure, Readonly<Record<string, { times: number; reason: string }>>>
> = {
  wait: {},
  clock: {},
  limit: {},
}
