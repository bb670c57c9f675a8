"""stub"""
from fastapi import APIRouter
def dashboard_router(store, gate): return APIRouter()
