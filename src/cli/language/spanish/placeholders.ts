// What stands for a value or a word, such as NOMBRE for NAME. One that is not here is the same in Spanish.

const PLACEHOLDERS: Record<string, string> = {
  ADDRESS: 'DIRECCIÓN',
  COMMAND: 'COMANDO',
  CODE: 'CÓDIGO',
  DATE: 'FECHA',
  DAYS: 'DÍAS',
  EVENT: 'EVENTO',
  FAMILY: 'FAMILIA',
  FILE: 'ARCHIVO',
  FORM: 'FORMATO',
  FORMAT: 'FORMATO',
  LEVEL: 'NIVEL',
  METHOD: 'MÉTODO',
  NAME: 'NOMBRE',
  ORIGIN: 'ORIGEN',
  PATTERN: 'PATRÓN',
  PLACE: 'LUGAR',
  PORT: 'PUERTO',
  SECONDS: 'SEGUNDOS',
  SIDE: 'LADO',
  SIGN: 'SIGNO',
  SIZE: 'TAMAÑO',
  STATE: 'ESTADO',
  TIME: 'TIEMPO',
  TOPIC: 'TEMA',
}

/** A text with the Spanish words for those that stand for something in it. */
export function placeholder(text: string): string {
  return text.replace(/\b[A-Z]+\b/g, (word) => PLACEHOLDERS[word] ?? word)
}
