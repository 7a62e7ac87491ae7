-- Proxies, their sources and pools, their turns and their health.
-- Locks go one way: the turn, then proxies by id, then mappings by id.

-- name: add_proxy
INSERT INTO proxies (host, port, scheme, username, secret, country, city, provider, monthly_cost, max_per_hour, priority, active, disabled_reason, created_at, updated_at)
VALUES (:host, :port, :scheme, :username, :secret, CAST(:country AS TEXT), CAST(:city AS TEXT), CAST(:provider AS TEXT), CAST(:monthly_cost AS BIGINT), :max_per_hour, :priority, :active,
        CASE WHEN NOT :active THEN 'manual' END, :now, :now)
ON CONFLICT (scheme, host, port, username) DO NOTHING
RETURNING *;

-- name: proxy
SELECT * FROM proxies WHERE id = :id;

-- name: proxy_at
SELECT id FROM proxies WHERE host = :host AND port = :port LIMIT 1;

-- name: same_proxy
SELECT * FROM proxies WHERE scheme = :scheme AND host = :host AND port = :port AND username = :username;

-- name: count_proxies
SELECT COUNT(*) AS count FROM proxies
WHERE (CAST(:active AS BOOLEAN) IS NULL OR active = :active)
  AND (CAST(:country AS TEXT) IS NULL OR country = :country)
  AND (CAST(:provider AS TEXT) IS NULL OR provider = :provider)
  AND (CAST(:host AS TEXT) IS NULL OR host = :host) AND (CAST(:port AS BIGINT) IS NULL OR port = :port);

-- name: mapped_proxies
SELECT m.id, m.source_id, m.active, m.priority, m.last_used_at, m.success_count, m.failure_count, m.total_failures, m.avg_ms,
    m.created_at, m.updated_at, p.id AS proxy_id, p.scheme, p.host, p.port, p.username, p.active AS proxy_active,
    p.disabled_reason, p.country, p.city, p.provider
FROM source_proxies m JOIN proxies p ON p.id = m.proxy_id
WHERE m.source_id = :source_id AND (CAST(:active AS BOOLEAN) IS NULL OR m.active = :active)
ORDER BY m.priority, m.turn, m.proxy_id;

-- name: mapped_pairs
SELECT m.id, m.source_id, m.active, m.priority, m.last_used_at, m.success_count, m.failure_count, m.total_failures, m.avg_ms,
    m.created_at, m.updated_at, p.id AS proxy_id, p.scheme, p.host, p.port, p.username, p.active AS proxy_active,
    p.disabled_reason, p.country, p.city, p.provider
FROM source_proxies m JOIN proxies p ON p.id = m.proxy_id /*rows , r(source_id bigint, proxy_id bigint) */
WHERE m.source_id = r.source_id AND m.proxy_id = r.proxy_id ORDER BY m.source_id, m.proxy_id;

-- name: proxy_sums
SELECT m.source_id, COUNT(*) AS proxies,
    CAST(SUM(CASE WHEN m.active AND p.active THEN 1 ELSE 0 END) AS BIGINT) AS active,
    CAST(SUM(CASE WHEN m.failure_count >= :failing THEN 1 ELSE 0 END) AS BIGINT) AS failing,
    CAST(SUM(m.success_count) AS BIGINT) AS successes, CAST(SUM(m.total_failures) AS BIGINT) AS failures,
    CAST(AVG(m.avg_ms) AS BIGINT) AS avg_ms
FROM source_proxies m JOIN proxies p ON p.id = m.proxy_id /*rows , r(source_id bigint) */
WHERE m.source_id = r.source_id GROUP BY m.source_id;

-- name: sources_of_proxies
SELECT m.proxy_id, m.source_id FROM source_proxies m /*rows , r(proxy_id bigint) */
WHERE m.proxy_id = r.proxy_id ORDER BY m.proxy_id, m.source_id;

-- name: find_proxies
SELECT * FROM proxies
WHERE (CAST(:active AS BOOLEAN) IS NULL OR active = :active)
  AND (CAST(:country AS TEXT) IS NULL OR country = :country)
  AND (CAST(:provider AS TEXT) IS NULL OR provider = :provider)
  AND (CAST(:host AS TEXT) IS NULL OR host = :host) AND (CAST(:port AS BIGINT) IS NULL OR port = :port)
  AND id > :after
ORDER BY id LIMIT :limit OFFSET :offset;

-- name: lock_proxies
SELECT p.* FROM proxies p /*rows , r(id bigint) */ WHERE p.id = r.id /*pg ORDER BY p.id FOR NO KEY UPDATE OF p */;

-- name: change_proxy
UPDATE proxies SET scheme = :scheme, username = :username, secret = :secret, active = :active,
    disabled_reason = CAST(:disabled_reason AS TEXT), failure_count = :failure_count,
    probe_at = CAST(:probe_at AS BIGINT), country = CAST(:country AS TEXT), city = CAST(:city AS TEXT),
    provider = CAST(:provider AS TEXT), monthly_cost = CAST(:monthly_cost AS BIGINT), max_per_hour = :max_per_hour,
    priority = :priority, updated_at = :now
WHERE id = :id
RETURNING *;

-- name: remove_proxy
DELETE FROM proxies WHERE id = :id RETURNING id;

-- name: assign_proxies
INSERT INTO source_proxies (source_id, proxy_id, priority, created_at, updated_at)
SELECT CAST(:source_id AS BIGINT), r.proxy_id, CAST(:priority AS BIGINT), CAST(:now AS BIGINT), CAST(:now AS BIGINT)
/*rows FROM r(proxy_id bigint) */ WHERE TRUE
ON CONFLICT (source_id, proxy_id) DO NOTHING
RETURNING id;

-- name: unassign_proxy
DELETE FROM source_proxies WHERE source_id = :source_id AND proxy_id = :proxy_id RETURNING id;

-- name: switch_mapping
UPDATE source_proxies SET active = :active, failure_count = 0, updated_at = :now
WHERE source_id = :source_id AND proxy_id = :proxy_id
RETURNING *;

-- name: mappings_of_source
SELECT * FROM source_proxies WHERE source_id = :source_id ORDER BY priority, turn, proxy_id;

-- name: take_turns
UPDATE turns SET last = last + :wanted WHERE id = 1 RETURNING last;

-- name: candidates_of_source
SELECT p.id, p.active AND m.active AS active, m.failure_count, m.turn, m.priority, m.success_count, m.total_failures,
       m.avg_ms, m.last_used_at, p.country, p.provider, TRUE AS mapped,
       p.max_per_hour - CAST(COALESCE((
           SELECT SUM(u.count) FROM proxy_uses u WHERE u.proxy_id = p.id AND u.slot >= :slot
       ), 0) AS BIGINT) AS room
FROM source_proxies m JOIN proxies p ON p.id = m.proxy_id WHERE m.source_id = :source_id;

-- name: candidates_of_pool
SELECT p.id, p.active, p.failure_count, p.turn, x.position AS priority, p.success_count, p.total_failures,
       p.avg_ms, p.last_used_at, p.country, p.provider, TRUE AS mapped,
       p.active OR COALESCE(p.disabled_reason, '') = 'auto' AS revivable,
       p.max_per_hour - CAST(COALESCE((
           SELECT SUM(u.count) FROM proxy_uses u WHERE u.proxy_id = p.id AND u.slot >= :slot
       ), 0) AS BIGINT) AS room
FROM pools g JOIN pool_proxies x ON x.pool_id = g.id JOIN proxies p ON p.id = x.proxy_id WHERE g.name = :pool;

-- name: candidates_of_all
SELECT p.id, p.active, p.failure_count, p.turn, p.priority, p.success_count, p.total_failures,
       p.avg_ms, p.last_used_at, p.country, p.provider, FALSE AS mapped,
       p.max_per_hour - CAST(COALESCE((
           SELECT SUM(u.count) FROM proxy_uses u WHERE u.proxy_id = p.id AND u.slot >= :slot
       ), 0) AS BIGINT) AS room
FROM proxies p
WHERE (CAST(:shared AS BOOLEAN) OR NOT EXISTS (SELECT 1 FROM source_proxies m WHERE m.proxy_id = p.id))
  AND NOT EXISTS (SELECT 1 FROM pool_proxies x WHERE x.proxy_id = p.id);

-- name: use_proxies
UPDATE proxies SET last_used_at = :now, turn = r.turn /*rows FROM r(id bigint, turn bigint) */ WHERE proxies.id = r.id;

-- name: use_mappings
UPDATE source_proxies SET last_used_at = :now, turn = r.turn /*rows FROM r(proxy_id bigint, turn bigint) */
WHERE source_proxies.source_id = :source_id AND source_proxies.proxy_id = r.proxy_id;

-- name: count_uses
INSERT INTO proxy_uses (proxy_id, slot, count)
SELECT r.proxy_id, CAST(:slot AS BIGINT), r.count /*rows FROM r(proxy_id bigint, count bigint) */ WHERE TRUE
ON CONFLICT (proxy_id, slot) DO UPDATE SET count = proxy_uses.count + excluded.count;

-- name: drop_old_uses
DELETE FROM proxy_uses /*rows USING r(proxy_id bigint) */ WHERE proxy_uses.proxy_id = r.proxy_id AND proxy_uses.slot < :slot;

-- name: lock_mappings
SELECT m.* FROM source_proxies m /*rows , r(source_id bigint, proxy_id bigint) */
WHERE m.source_id = r.source_id AND m.proxy_id = r.proxy_id /*pg ORDER BY m.id FOR NO KEY UPDATE OF m */;

-- name: account_proxies
UPDATE proxies SET active = r.active, disabled_reason = r.disabled_reason, failure_count = r.failure_count,
    success_count = r.success_count, total_failures = r.total_failures, last_success_at = r.last_success_at,
    last_failure_at = r.last_failure_at, avg_ms = r.avg_ms, probe_at = r.probe_at, updated_at = :now
/*rows FROM r(id bigint, active boolean, disabled_reason text, failure_count bigint, success_count bigint, total_failures bigint, last_success_at bigint, last_failure_at bigint, avg_ms bigint, probe_at bigint) */
WHERE proxies.id = r.id;

-- name: account_mappings
UPDATE source_proxies SET active = r.active, success_count = r.success_count, failure_count = r.failure_count,
    total_failures = r.total_failures, avg_ms = r.avg_ms, updated_at = :now
/*rows FROM r(id bigint, active boolean, success_count bigint, failure_count bigint, total_failures bigint, avg_ms bigint) */
WHERE source_proxies.id = r.id;

-- name: take_probes
UPDATE proxies SET probe_at = CAST(:now AS BIGINT) + :every
WHERE id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT id FROM proxies WHERE probe_at <= :now AND (active OR disabled_reason = 'auto')
    ORDER BY probe_at, id LIMIT :limit /*pg FOR UPDATE SKIP LOCKED */
) /*pg ) */
RETURNING *;

-- name: find_pools
SELECT g.name, g.fallbacks, x.proxy_id FROM pools g LEFT JOIN pool_proxies x ON x.pool_id = g.id
ORDER BY g.name, x.position, x.proxy_id;

-- name: working_proxies_of_pools
SELECT g.name, COUNT(*) AS count FROM pools g JOIN pool_proxies x ON x.pool_id = g.id JOIN proxies p ON p.id = x.proxy_id
WHERE p.active AND p.failure_count < :skip_after GROUP BY g.name;

-- name: keep_pool
INSERT INTO pools (name, fallbacks) VALUES (:name, :fallbacks)
ON CONFLICT (name) DO UPDATE SET fallbacks = excluded.fallbacks
RETURNING id;

-- name: empty_pool
DELETE FROM pool_proxies WHERE pool_id = :pool_id;

-- name: fill_pool
INSERT INTO pool_proxies (pool_id, proxy_id, position)
SELECT CAST(:pool_id AS BIGINT), r.proxy_id, r.position /*rows FROM r(proxy_id bigint, position bigint) */ WHERE TRUE;

-- name: drop_pool
DELETE FROM pools WHERE name = :name RETURNING id;
