// Memory of a process over hours: its limit, resident and proportional size, and how flat they are.

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { readMemory } from '../../resources.ts'

/** In MB; `at` is in milliseconds of `performance.now()`. */
export type MemorySample = { at: number; resident: number; proportional: number }

export type MemoryFigures = {
  begin: number
  middle: number
  end: number
  peak: number
  proportional: number
  /** Growth in percent from the first half of the window to its second half. */
  growth: number
}

const GROUPS = '/sys/fs/cgroup/memory' // version 1 of the kernel's groups
const LIMIT = 'memory.limit_in_bytes'
const EVERY_MS = 5000
const WINDOW_MS = 3_600_000

/**
 * Limits the memory of a process, page cache included, as a unit of systemd does. Returns a function that reads how often
 * the limit was reached; undefined: this machine has no such groups.
 */
export function limitMemory(
  t: Pick<TestContext, 'after'>,
  pid: number,
  bytes: number,
): (() => number) | undefined {
  if (!existsSync(join(GROUPS, LIMIT)) || process.getuid?.() !== 0) return undefined
  const group = join(GROUPS, `cambista-soak-${pid}`)
  mkdirSync(group)
  t.after(() => rmdirSync(group))
  writeFileSync(join(group, LIMIT), String(bytes))
  writeFileSync(join(group, 'cgroup.procs'), String(pid))
  return () => Number(readFileSync(join(group, 'memory.failcnt'), 'utf8'))
}

/** Samples every 5 seconds until `stop`, which returns the figures in MB. The window is the last hour. */
export function sampleMemory(pid: number): { stop(): MemoryFigures } {
  const samples: MemorySample[] = []
  const take = () => samples.push({ at: performance.now(), ...readSizes(pid) })
  take()
  const timer = setInterval(take, EVERY_MS)
  return {
    stop() {
      clearInterval(timer)
      take()
      return { ...summarize(samples), peak: readMemory(pid, 'VmHWM') / 1e6 }
    },
  }
}

function readSizes(pid: number): { resident: number; proportional: number } {
  const [, kilobytes] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
  return { resident: readMemory(pid) / 1e6, proportional: Number(kilobytes) / 1e3 }
}

/** The window is the last hour, of a shorter run its second half. */
function summarize(samples: readonly MemorySample[]): Omit<MemoryFigures, 'peak'> {
  const [first, last] = [samples[0]?.at ?? 0, samples.at(-1)?.at ?? 0]
  const start = Math.max(last - WINDOW_MS, (first + last) / 2)
  const middle = (start + last) / 2
  const resident = (from: number, to: number) =>
    median(samples.filter(({ at }) => at >= from && at <= to).map((one) => one.resident))
  const [before, after] = [resident(start, middle), resident(middle, last)]
  return {
    begin: samples[0]?.resident ?? 0,
    middle: resident((first + last) / 2, last - (last - first) / 4),
    end: samples.at(-1)?.resident ?? 0,
    proportional: samples.at(-1)?.proportional ?? 0,
    growth: (after / before - 1) * 100,
  }
}

function median(values: readonly number[]): number {
  const ascending = values.toSorted((one, other) => one - other)
  return ascending[Math.floor(ascending.length / 2)] ?? 0
}
