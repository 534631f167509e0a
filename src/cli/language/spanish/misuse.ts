// What was mistyped, in Spanish.

import type { Misuse } from '../../advice.ts'
import { placeholder } from './placeholders.ts'

export function misuseText(fault: Misuse): string {
  switch (fault.misuse) {
    case 'no-command':
      return 'falta el COMANDO'
    case 'unknown-command': {
      const { typed, near, group } = fault
      const unknown = `no existe el comando ${JSON.stringify(typed)}`
      if (near.length > 0) return `${unknown}; ¿quizás cambista ${near.join(', o ')}?`
      return group.length > 0 ? `${unknown}; sí existen: ${group.join(', ')}` : unknown
    }
    case 'unknown-flag': {
      const { flag, near, takes } = fault
      const unknown = `opción desconocida '${flag}'`
      if (near !== undefined) return `${unknown}; ¿quizás --${near}?`
      if (takes === undefined) return unknown
      if (takes.length === 0) return `${unknown}; este comando no acepta opciones`
      return `${unknown}; este comando acepta ${takes.map((name) => `--${name}`).join(', ')}`
    }
    case 'missing-flag': {
      const { flag, choices } = fault
      return choices.length === 0
        ? `falta --${flag}`
        : `falta --${flag}, con uno o más de estos valores: ${choices.join(', ')}`
    }
    case 'missing-word':
      return `falta ${placeholder(fault.word)}; uso: cambista ${placeholder(fault.usage)} [opciones]`
    case 'extra-word':
      return `sobra ${JSON.stringify(fault.word)}; uso: cambista ${placeholder(fault.usage)} [opciones]`
    case 'address-word': {
      const options = fault.takes.map((name) => `--${name}`).join(' o ')
      const where = options === '' ? 'este comando no acepta ninguna' : `es el valor de ${options}`
      return `sobra la dirección de una base de datos: ${where}`
    }
    case 'unknown-topic': {
      const { word, near, topics } = fault
      const unknown = `no existe el tema ${JSON.stringify(word)}`
      return near ? `${unknown}; ¿quizás ${near}?` : `${unknown}; los temas son: ${topics.join(', ')}`
    }
  }
}
