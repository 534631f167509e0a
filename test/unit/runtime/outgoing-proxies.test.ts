import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readProxies } from '../../../src/runtime/outgoing-proxies.ts'

const PROXY = 'http://proxy.test:3128'

/** Hosts of these URLs that have a proxy. */
function proxied(env: Record<string, string>, ...urls: string[]): string[] {
  const proxies = readProxies(env)
  return urls.filter((url) => proxies.find(new URL(url)))
}

test('loopback has no proxy, by its addresses and by the names that mean it', () => {
  const env = { http_proxy: PROXY, https_proxy: PROXY }
  const loopback = ['127.0.0.1', '127.9.8.7', '127.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost']
  const names = ['LOCALHOST', 'localhost.', 'bank.localhost']
  for (const host of [...loopback, ...names])
    for (const scheme of ['http', 'https'])
      assert.deepEqual(proxied(env, `${scheme}://${host}:8443/`), [], `${scheme} ${host}`)
  const others = ['http://localhost.test/', 'http://notlocalhost/', 'http://128.0.0.1/', 'https://[::2]/']
  assert.deepEqual(proxied(env, ...others), others)
})

test('`no_proxy` has names with those below them, addresses, networks, ranges and ports', () => {
  const excepted = (no_proxy: string, ...hosts: string[]) =>
    hosts.filter((host) => proxied({ https_proxy: PROXY, no_proxy }, `https://${host}/`).length === 0)
  const hosts = ['bank.test', 'www.bank.test', 'bank.test:8443', 'otherbank.test', '10.1.2.3', '[fd00::5]']
  const [bank, www, port, , ten, unique] = hosts
  const cases: (string | undefined)[][] = [
    ['bank.test', bank, www, port],
    ['BANK.test.', bank, www, port],
    ['.bank.test', bank, www, port],
    ['*.bank.test , x.test', bank, www, port],
    ['x.test bank.test:8443', port],
    ['bank.test:443', bank, www],
    ['10.1.2.3', ten],
    ['10.0.0.0/8', ten],
    ['10.1.2.0-10.1.2.9', ten],
    ['10.1.2.3:443', ten],
    ['10.1.2.3:80'],
    ['fd00::/8', unique],
    ['[fd00::5]', unique],
    ['[fd00::5]:443', unique],
    ['*', ...hosts],
    ['10.0.0.0/99'],
    ['10.0.0.0/'],
    ['10.0.0.0/8.5 10.0.0.0/-1 10.0.0.0/1e0 10.0.0.0/8/8'],
    ['10.9.0.0-10.0.0.0 10.0.0.0-fd00::9 10.0.0.0- 10.0.0.0-10.9.0.0-10.9.0.1 fe80::1%eth0'],
    ['10.0.0.0/-1,bank.test', bank, www, port],
    ['0.0.0.0/0', ten],
    [',,'],
    ['1'],
  ]
  for (const [text = '', ...expected] of cases) assert.deepEqual(excepted(text, ...hosts), expected, text)
})

test('a variable in small letters wins over capitals, and the environment over the settings', () => {
  const name = (...envs: Record<string, string>[]) => readProxies(...envs).https?.name
  assert.equal(name({ https_proxy: 'http://a.test', HTTPS_PROXY: 'http://b.test' }), 'http://a.test')
  assert.equal(name({ https_proxy: '', HTTPS_PROXY: 'http://b.test:81' }), 'http://b.test:81')
  assert.equal(name({ HTTPS_PROXY: 'http://b.test' }, { https_proxy: 'http://c.test' }), 'http://b.test')
  assert.equal(name({ https_proxy: '' }, { HTTPS_PROXY: 'http://c.test' }), 'http://c.test')
  assert.equal(name({ http_proxy: PROXY }), undefined)
  assert.deepEqual(proxied({ http_proxy: PROXY }, 'https://bank.test/', 'http://bank.test/'), [
    'http://bank.test/',
  ])
})

test('a proxy may lack its scheme, and a value that is no proxy of HTTP is named', () => {
  const read = (https_proxy: string) => readProxies({ https_proxy })
  assert.equal(read('proxy.test:3128').https?.name, PROXY)
  assert.equal(read('https://ana:p%40ss@proxy.test:8443/').https?.name, 'https://proxy.test:8443')
  assert.equal(read('ana:p%40ss@proxy.test').https?.url, 'http://ana:p%40ss@proxy.test/')
  for (const text of [
    'socks5://proxy.test:1080',
    'http://',
    'http://a b',
    'http://ana:100%@proxy.test',
    ':',
  ]) {
    const { https, unusable } = read(text)
    assert.deepEqual([https, unusable], [undefined, ['https_proxy']], text)
  }
})
