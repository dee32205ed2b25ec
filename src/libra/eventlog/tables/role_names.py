"""What people call the columns of an event log, in the order of how sure the name is.

A name is compared by its letters and digits alone, without their case (`normal`). Each role has three tiers: names
that say it outright, names that suggest it, and weak ones; within a tier the content decides first.
"""

from __future__ import annotations

import unicodedata

_COMPLETE = "completetimestamp completiontimestamp completetime completiontime"
_END = """end ende einde fin endtimestamp endtime enddatetime enddate finishtime finishedat completedat completedate
    timestampend endzeitpunkt endzeit enddatum eindtijd einddatum datefin heurefin"""
_SURE = {
    "case_id": """caseid casekey case caseidentifier casenumber caseno casenr casename caseref caseuuid traceid trace
        processinstanceid processinstance processid instanceid fallid fallnummer fallnr fall vorgangsid
        vorgangsnummer vorgangsnr zaakid zaaknummer zaak casusid dossierid dossiernummer dossier numerodossier
        iddossier idcas numerodecas""",
    "activity": """activity activityname activitylabel activityen activityde activitytype activityinstance eventactivity
        aktivitat aktivitaet tatigkeit taetigkeit activiteit activiteitnaam activite nomactivite""",
    "timestamp": f"""{_COMPLETE} timestamp eventtimestamp eventtime eventdatetime eventdate zeitstempel zeitpunkt tijdstempel
        tijdstip horodatage horodate dateheure""",
    "start_timestamp": """starttimestamp starttime startdatetime startdate startedat timestampstart begintimestamp begintime
        begindate startzeitpunkt startzeit startdatum beginn begintijd starttijd begindatum datedebut heuredebut""",
    "lifecycle": "lifecycle lifecycletransition lifecyclestate transition eventlifecycle transactiontype",
    "resource": """resource resourcename resourceid originator performer performedby executedby ressource bearbeiter
        mitarbeiter uitvoerder medewerker executant""",
}  # fmt: skip
_LIKELY = {
    "case_id": """admissionid admission encounterid encounter visitid visit hadmid stayid episodeid episode incidentid
        incidentnumber ticketid ticketnumber ticket orderid ordernumber order salesorder salesdocument vbeln
        ebeln ponumber purchaseorder purchasingdocument invoiceid invoicenumber invoice applicationid
        application requestid requestnumber srnumber servicerequest claimid claimnumber claim loanid
        declarationid jobid auftragsnummer auftrag bestellnummer aanvraagid bestelnummer commande patientid patient
        patientnumber patientennummer patientnummer numeropatient studentid customerid clientid""",
    "activity": """task taskname event eventname eventtype eventclass eventlabel eventdescription action actionname
        operation operationname step stepname processstep processstepname schritt
        prozessschritt arbeitsschritt ereignis vorgang aufgabe handeling stap gebeurtenis taak etape tache
        evenement operationde""",
    "timestamp": f"""datetime date time when recordedat changedat datum uhrzeit datumuhrzeit datumzeit datumtijd tijd moment heure
        timestamputc {_END} createdat created""",
    "start_timestamp": "start started begin debut",
    "lifecycle": "lifecyclestatus eventstate",
    "resource": """user username userid agent employee employeeid worker operator assignee assignedto staff staffid handler
        actor person benutzer anwender sachbearbeiter gebruiker utilisateur acteur agentid""",
}  # fmt: skip
_WEAK = {"case_id": "id key number nr", "activity": "status state procedure name description"}
TIERS = tuple({role: tier.get(role, "").split() for role in _SURE} for tier in (_SURE, _LIKELY, _WEAK))
ENDS = frozenset(f"{_COMPLETE} {_END}".split())  # beside a start these name the timestamp; alone, _END may be that of the case
WEAK = 2  # the tier of names that count only where the content fits


def normal(name: str) -> str:
    """A column's name without what people write differently.

    Example:
        >>> normal("_CASE_KEY"), normal("Complete Timestamp"), normal("Aktivität")
        ('casekey', 'completetimestamp', 'aktivitat')
    """
    plain = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in plain if letter.isalnum())


def rank(role: str, name: str) -> tuple[int, int] | None:
    """How well a column's name fits a role (tier, position in it; smaller is better), or None."""
    for tier, names in enumerate(TIERS):
        if normal(name) in names[role]:
            return tier, names[role].index(normal(name))
    return None
