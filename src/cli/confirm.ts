// A question to the person at the terminal, before something is removed.

import { createInterface } from 'node:readline'
import type { ReadStream } from 'node:tty'
import { AppError } from '../errors.ts'
import type { Terminal } from './command.ts'

const YES = /^(y|yes|s|si|sí)$/i

/** Whether there is a person to be asked. */
export function canAsk({ input, interactive }: Pick<Terminal, 'input' | 'interactive'>): boolean {
  return interactive && (input?.() as Partial<ReadStream> | undefined)?.isTTY === true
}

/** Whether the person says yes; anything else, an empty line too, is no. @throws AppError `failed` when stopped meanwhile */
export async function isConfirmed(terminal: Terminal, question: string): Promise<boolean> {
  const input = terminal.input?.()
  if (!input) return false
  const lines = createInterface({ input, signal: terminal.stop })
  const answer = Promise.withResolvers<string | undefined>()
  lines.once('line', answer.resolve)
  lines.once('close', () => answer.resolve(undefined))
  terminal.err(`${question} [y/N] `)
  const line = await answer.promise
  lines.close()
  if (line === undefined) terminal.err('\n')
  if (line === undefined && terminal.stop.aborted)
    throw new AppError('failed', 'stopped before the answer: nothing was changed')
  return YES.test(line?.trim() ?? '')
}
