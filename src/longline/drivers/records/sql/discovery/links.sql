-- Links to other domains, and these domains.

-- name: save_links
INSERT INTO links (uid, source, source_name, key, url, parent_url, depth, domain, priority, discovered_at, updated_at)
SELECT r.uid, COALESCE(s.ref, s.uid, j.source_ref, ''), COALESCE(s.name, j.source_name, ''), r.key, r.url, r.parent_url, r.depth, r.domain, :priority, :now, :now
FROM runs u LEFT JOIN sources s ON s.id = u.source_id LEFT JOIN schedules j ON j.id = u.schedule_id
/*rows , r(uid text, key bytea, url text, parent_url text, depth bigint, domain text) */
WHERE u.id = :run_id
ON CONFLICT (source, key) DO UPDATE SET parent_url = excluded.parent_url, depth = excluded.depth,
    priority = excluded.priority, updated_at = excluded.updated_at;

-- name: fill_links
-- What an earlier visit learnt of the page that a link leads to.
UPDATE links SET status = p.status, content_type = p.content_type
FROM hosts h, visits v, pages p /*rows , r(link bytea, host text, key bytea) */
WHERE links.key = r.link AND links.status IS NULL AND h.host = r.host AND v.host_id = h.id AND v.key = r.key
  AND p.task_id = v.task_id;

-- name: learn_links
UPDATE links SET status = r.status, content_type = COALESCE(r.content_type, links.content_type)
/*rows FROM r(key bytea, status bigint, content_type text) */
WHERE links.key = r.key
RETURNING links.id;

-- name: find_links
SELECT id, uid, source, source_name, url, parent_url, depth, domain, status, content_type, taken, priority, discovered_at, updated_at,
       COUNT(*) OVER () AS total
FROM links
WHERE (CAST(:uid AS TEXT) IS NULL OR uid = :uid)
  AND (CAST(:taken AS BIGINT) IS NULL OR taken = (:taken = 1))
  AND (CAST(:source AS TEXT) IS NULL OR source = :source)
  AND (CAST(:source_name AS TEXT) IS NULL OR source_name = :source_name)
  AND (CAST(:domain AS TEXT) IS NULL OR domain = :domain)
  AND (CAST(:search AS TEXT) IS NULL OR LOWER(url) LIKE LOWER(CAST(:search AS TEXT)) ESCAPE '\')
ORDER BY CAST(:direction AS BIGINT) * CASE CAST(:sort AS TEXT)
    WHEN 'urgency' THEN -priority WHEN 'updated_at' THEN updated_at ELSE discovered_at END, :direction * id
LIMIT :limit OFFSET :offset;

-- name: take_link
UPDATE links SET taken = TRUE, updated_at = :now WHERE uid = :uid RETURNING id;

-- name: remove_link
DELETE FROM links WHERE uid = :uid RETURNING id;

-- name: find_domains
SELECT *, COUNT(*) OVER () AS total FROM (
    SELECT l.domain, COALESCE(MAX(d.status), 'active') AS status, COUNT(*) AS links, COUNT(DISTINCT l.source) AS source_count,
           CAST(AVG(l.depth) AS DOUBLE PRECISION) AS depth, MIN(l.discovered_at) AS first_seen, MAX(l.updated_at) AS last_seen,
           CAST(AVG(CASE WHEN l.status BETWEEN 200 AND 299 THEN 1.0 ELSE 0.0 END) AS DOUBLE PRECISION) AS ok,
           CAST(AVG(CASE WHEN l.content_type LIKE 'text/html%' THEN 1.0 ELSE 0.0 END) AS DOUBLE PRECISION) AS html,
           MAX(d.notes) AS notes
    FROM links l LEFT JOIN domains d ON d.domain = l.domain
    WHERE (CAST(:domain AS TEXT) IS NULL OR l.domain = :domain)
      AND (CAST(:search AS TEXT) IS NULL OR l.domain LIKE LOWER(CAST(:search AS TEXT)) ESCAPE '\')
      AND (CAST(:status AS TEXT) IS NULL OR COALESCE(d.status, 'active') = :status)
    GROUP BY l.domain
) found
ORDER BY CAST(:direction AS BIGINT) * CASE CAST(:sort AS TEXT)
    WHEN 'links' THEN links WHEN 'source_count' THEN source_count WHEN 'last_seen' THEN last_seen ELSE 0 END,
    CASE WHEN :named = 1 AND :direction = -1 THEN domain END DESC, domain
LIMIT :limit OFFSET :offset;

-- name: referring_sources
SELECT DISTINCT l.domain, l.source_name FROM links l /*rows , r(domain text) */ WHERE l.domain = r.domain;

-- name: sources_like
SELECT r.domain AS domain, s.base_url FROM sources s /*rows , r(domain text, pattern text) */ WHERE LOWER(s.base_url) LIKE LOWER(r.pattern) ESCAPE '\';

-- name: judge_domains
INSERT INTO domains (domain, status, notes, updated_at)
SELECT r.domain, :status, CAST(:notes AS TEXT), :now /*rows FROM r(domain text) */
WHERE TRUE
ON CONFLICT (domain) DO UPDATE SET status = excluded.status, notes = COALESCE(excluded.notes, domains.notes), updated_at = excluded.updated_at
RETURNING domain;
