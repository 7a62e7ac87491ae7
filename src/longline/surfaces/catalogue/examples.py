"""Examples of the catalogue contract for the OpenAPI document."""

AT = "2026-04-01T10:00:00.000Z"
LATER = "2026-04-01T10:05:00.000Z"
COMIC_ID = "01963a7e-5b2c-7def-8123-456789abcdef"
JOB_ID = "01963a7e-6c3d-7abc-9234-56789abcdef0"
USER_ID = "01963a7e-7d4e-7bcd-8345-6789abcdef01"
META = {"total": 1, "page": 1, "limit": 50, "pages": 1}

SOURCE_REQUEST = {
    "name": "Example Site",
    "slug": "example-site",
    "baseurl": "https://example.com",
    "extensionid": "com.example.extension.site",
    "config": {"ratelimit": 2},
    "isenabled": True,
}
SOURCE = {
    "id": 100001,
    **SOURCE_REQUEST,
    "lastsucceededat": AT,
    "lastfailedat": None,
    "consecutivefails": 0,
    "createdat": AT,
    "updatedat": AT,
}
SOURCES = {"data": [SOURCE], "meta": META}
SWITCHED = {"id": 100001, "name": "Example Site", "isenabled": False, "updatedat": AT}
HEALTH = {
    "id": 100001,
    "name": "Example Site",
    "isenabled": True,
    "consecutivefails": 0,
    "lastsucceededat": AT,
    "lastfailedat": None,
    "jobs": {"total": 42, "done": 38, "failed": 2, "running": 2, "queued": 0},
    "lastjob": {"id": JOB_ID, "status": "done", "pagescount": 120, "errorcount": 0, "finishedat": AT},
}
COMIC_REQUEST = {"title": "A Comic", "coverurl": "https://example.com/cover.jpg"}
COMIC = {
    "id": COMIC_ID,
    "title": "A Comic",
    "slug": "a-comic",
    "coverurl": "https://example.com/cover.jpg",
    "status": "ongoing",
    "external": {},
    "createdat": AT,
    "updatedat": AT,
}
COMICS = {"data": [COMIC], "meta": META}
MAPPING_REQUEST = {"sourceid": 100001, "sourceid_ext": "a-comic-7", "sourceurl": "https://example.com/comics/7"}
MAPPING = {
    "id": 1,
    "comicid": COMIC_ID,
    **MAPPING_REQUEST,
    "isactive": True,
    "lastcrawlat": None,
    "createdat": AT,
    "updatedat": AT,
    "source": {"id": 100001, "name": "Example Site", "slug": "example-site", "baseurl": "https://example.com"},
}
JOB_REQUEST = {"sourceid": 100001, "comicid": COMIC_ID}
JOB = {
    "id": JOB_ID,
    "sourceid": 100001,
    "comicid": COMIC_ID,
    "status": "done",
    "scheduledat": AT,
    "startedat": AT,
    "finishedat": LATER,
    "pagescount": 12,
    "errorcount": 0,
    "lasterror": None,
    "triggeredby": USER_ID,
    "createdat": AT,
    "updatedat": LATER,
    "source": {"id": 100001, "name": "Example Site", "slug": "example-site"},
    "comic": {
        "id": COMIC_ID,
        "title": "A Comic",
        "slug": "a-comic",
        "coverurl": "https://example.com/cover.jpg",
        "status": "ongoing",
    },
    "triggeredbyuser": {"id": USER_ID, "username": "ada"},
}
JOBS = {"data": [JOB], "meta": META}
CANCELLED_JOB = {"id": JOB_ID, "status": "cancelled", "updatedat": LATER}
LOGS = {
    "data": [
        {
            "id": "01963a7e-8e5f-7cde-8456-789abcdef012",
            "jobid": JOB_ID,
            "level": "info",
            "message": "crawl started",
            "meta": {"url": "https://example.com/comics/7"},
            "createdat": "2026-04-01T10:00:00.000001Z",
        }
    ],
    "meta": {"total": 1, "nextcursor": "2026-04-01T10:00:00.000001Z"},
}
AUDIT_ENTRY = {
    "id": "01963a7e-9f60-7def-8567-89abcdef0123",
    "actorid": USER_ID,
    "actor": {"id": USER_ID, "username": "ada", "role": "admin"},
    "action": "source.disable",
    "entitytype": "source",
    "entityid": "100001",
    "before": {"isenabled": True},
    "after": {"isenabled": False},
    "reason": "maintenance of the site",
    "ipaddress": "192.0.2.7",
    "createdat": AT,
}
AUDIT_LOG = {"data": [AUDIT_ENTRY], "meta": META}
SETTING = {
    "id": 100000,
    "key": "crawler.max_retries",
    "value": "3",
    "description": None,
    "createdat": AT,
    "updatedat": AT,
}
SETTINGS = {"data": [SETTING], "meta": META | {"limit": 100}}

NOTIFICATION = {
    "type": "source.autodisable",
    "level": "warning",
    "message": "Source Example was disabled after 5 failed jobs in a row.",
    "sourceid": 100001,
    "jobid": None,
    "createdat": AT,
}
PAUSED = {"ispaused": True}
RUNNING = {"ispaused": False}
RESET_JOBS = {"count": 1, "failed": [USER_ID], "jobs": [JOB]}
BATCH_RUN = {
    "id": JOB_ID,
    "jobkey": "crawler.partition",
    "status": "done",
    "triggeredby": "admin",
    "triggeredbyuserid": USER_ID,
    "startedat": AT,
    "finishedat": AT,
    "durationms": 12,
    "rowsaffected": 0,
    "lasterror": None,
    "meta": {"partitionsCreated": ["log_2026_05"]},
    "createdat": AT,
}
BATCH_SCHEDULE = {"jobkey": "crawler.partition", "cron": "35 0 1 * *", "isenabled": True, "nextrunat": LATER}
BATCH_JOB = {
    **BATCH_SCHEDULE,
    "description": "Create the next month of logs.",
    "isrunning": False,
    "lastrun": BATCH_RUN,
}
