// Checks that a text is Spanish: without English words, and with its accents.

import assert from 'node:assert/strict'

const ENGLISH =
  'the of and with that is are be it its this these those not only from which when where what has have for to in on by or an as at if than such all each other one'
const UNACCENTED =
  'opcion direccion mas dias codigo tambien sesion conexion version numero pagina ningun segun despues ultimo ultima unico unica sincronizacion configuracion conversion metricas historico maquina tamano minimo maximo espanol quizas'

/** @throws when a text has English words, words without their accents, or letters that are not in NFC */
export function checkSpanish(text: string): void {
  // Commands, flags, code, and names of files and fields are English, and are removed first.
  const prose = text
    .replaceAll(/```[\s\S]*?```|`[^`]*`|\]\([^)]*\)|"[^"\n]*"/g, ' ')
    .replaceAll(/^ *cambista .*$|cambista \w+ \w+|^(Ejemplo|Uso): .*$|^ {2}[a-z]+( [a-z]+)?(?= )/gm, ' ')
  assert.deepEqual(listedWords(prose, ENGLISH), [], 'English words')
  assert.deepEqual(listedWords(prose, UNACCENTED), [], 'accents are missing')
  assert.match(prose, /[áéíóúñ]/)
  assert.equal(text, text.normalize('NFC'))
}

function listedWords(text: string, list: string): string[] {
  const unwanted = new Set(list.split(' '))
  const words = text.match(/(?<![\p{L}\d/_.-])\p{L}+(?![\p{L}\d/_-])/gu) ?? []
  return [...new Set(words.filter((word) => unwanted.has(word.toLowerCase())))]
}
