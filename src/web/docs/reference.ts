// API reference at /docs/reference: Scalar over the description that the page preloads. Options that contact another
// server or store a secret are off; the policy of http/web/assets.ts blocks them too.

type Scalar = { createApiReference(element: string, configuration: object): void }

const { Scalar } = window as unknown as { Scalar: Scalar }
const { href: url = '' } = document.querySelector<HTMLLinkElement>('link[rel=preload]') ?? {}

Scalar.createApiReference('#reference', {
  url,
  telemetry: false,
  withDefaultFonts: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  hiddenClients: true, // its own commands lack credentials; those of the description are tested
  showDeveloperTools: 'never',
  persistAuth: false,
  servers: [{ url: url.replace(/\/[^/]*$/, '') }],
  documentDownloadType: 'json',
})
