// The page in Spanish. The English table has the same entries, which the types see to.

import { ES_RATES } from './es-rates.ts'

const SIDES = { compra: 'Compra', venta: 'Venta', referencia: 'Referencia' }

export const ES = {
  screens: { rates: 'Tipos de cambio', documents: 'Documentos', status: 'Estado' },
  sections: 'Secciones',
  skip: 'Ir al contenido',
  otherLanguage: 'English',
  inOtherLanguage: 'show the page in English',
  theme: { light: 'Usar colores claros', dark: 'Usar colores oscuros' },
  sides: SIDES,
  today: 'Hoy',
  reference: 'Referencia de la API',
  manualNote: 'cambista guarda y muestra los valores tal como los publica el Banco Central.',

  session: {
    menu: 'Sesión',
    title: 'Entrar',
    secret: 'Clave de la API o token',
    hint: 'Pegue la clave que imprimió «cambista key create» (cbk_…) o un token de documentos (cbt_…).',
    show: 'Mostrar',
    hide: 'Ocultar',
    enter: 'Entrar',
    entering: 'Entrando…',
    linkHint: 'También puede abrir el enlace de un solo uso que imprime «cambista web --key NOMBRE».',
    wrong: 'Esa clave o ese token no sirve aquí. Revise que esté completo; puede estar vencido o revocado.',
    notASecret: 'Una clave comienza con cbk_ y un token con cbt_. Péguelo completo, sin espacios.',
    tooMany: 'Demasiados intentos fallidos desde este equipo. Espere un minuto y pruebe de nuevo.',
    insecure:
      'El servidor no acepta entrar por HTTP simple desde otro equipo. Abra la página por HTTPS; «cambista cert create --host NOMBRE» crea un certificado.',
    ended: 'La sesión terminó o su clave fue revocada. Entre de nuevo.',
    leave: 'Salir',
    key: 'Clave',
    token: 'Token',
    company: (id: number) => `empresa ${id}`,
    allCompanies: 'todas las empresas',
    expires: (day: string) => `vence el ${day}`,
    addKey: 'Agregar una clave',
    addToken: 'Agregar un token',
    add: 'Agregar',
    needsKey: 'Para ver tipos de cambio y estado hace falta una clave',
    needsKeyText: 'Esta sesión tiene solo un token de documentos. Agregue una clave de la API (cbk_…).',
    needsToken: 'Para ver documentos hace falta un token',
    needsTokenText:
      'Esta sesión tiene solo una clave. Agregue un token de documentos (cbt_…), que crea «cambista token create».',
    storage: 'El navegador no permite guardar la sesión: habilite el almacenamiento de este sitio.',
  },

  failures: {
    offline: 'No hay conexión con el servidor',
    offlineText: 'La página prueba de nuevo por sí sola.',
    lastShown: 'Se muestra lo último que llegó.',
    busy: 'El servidor no puede responder en este momento',
    busyText: 'Está ocupado o se está iniciando. La página prueba de nuevo por sí sola.',
    tooMany: 'Demasiadas preguntas por minuto. Espere un momento.',
    forbidden: 'Este token no permite esta acción',
    notFound: 'No hay datos para esto',
    invalid: 'El servidor no acepta estos valores',
    server: 'El servidor tuvo un error',
    serverText: 'El registro del servidor dice la causa.',
    retry: 'Probar de nuevo',
    says: 'El servidor dice:',
  },
  loading: 'Cargando…',

  ...ES_RATES,

  close: 'Cerrar',
  health: {
    offline: 'Sin conexión',
    fresh: 'Al día',
    stale: 'Atrasado',
    broken: 'Con error',
    unknown: 'Sin datos',
  },
}

/** Texts of a language; without the literal ones, so that another language can have its own. */
export type Texts = typeof ES
