// What an operator can do about an error, as a command or an option.

import type { Advice } from '../errors.ts'

/** A message with what can be done about it. */
export function inWords({ message, advice }: { message: string; advice: Advice | undefined }): string {
  return advice ? message + adviceText(advice) : message
}

/** How the line of an error goes on. */
function adviceText(advice: Advice): string {
  switch (advice.about) {
    case 'companies':
      return ': see cambista company list'
    case 'providers':
      return ': see cambista provider list'
    case 'series':
      return ': see cambista series list'
    case 'conversion':
      return ''
    case 'new-secret':
      return `: make a new one with cambista ${advice.kind} create`
    case 'expiry':
      return ': give --expires DATE, the last day of its new secret'
    case 'company-change':
      return ' (cambista company update changes it)'
    case 'directory-change':
      return ' (cambista directory import changes what is there)'
    case 'days':
      return advice.again ? `: ${syncOf(advice)} reads it again` : `; ${syncOf(advice)} asks for it`
    case 'failed-sync':
      return ': cambista sync says why'
    case 'token':
      return `; with ${advice.name} (--${advice.option}) the server reads them again by itself`
    case 'repair':
      return ': stop the server and run cambista doctor --repair, which adds them up anew'
    case 'stopped-server':
      return ': stop it first, --repair needs its lock'
    case 'code-change':
      return '; cambista directory import changes a code'
    case 'nightly-backup':
      return ' (--backup-dir)'
    case 'damage':
      return ': cambista doctor says how'
    case 'own-id':
      return `: choose one for the ${advice.kind} with --id`
  }
}

function syncOf({ from, to }: { from: string; to: string }): string {
  return `cambista sync --from ${from} --to ${to}`
}
